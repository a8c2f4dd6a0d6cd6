// What `eureka condition --json` printed, shown: theory and measurement in one plot, and every row.
#pragma once

#include "base/files.h"
#include "report/page.h"

namespace eureka {

// A JSON file with the results of a law that was tested?
bool is_condition_file(const fs::path& file);

// Throws Error(input) when it is none.
PageSection condition_section(const fs::path& file);

}  // namespace eureka
