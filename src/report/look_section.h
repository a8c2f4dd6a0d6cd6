// The attention maps that `eureka look --diagnostic maps --out DIR` wrote, step beside step.
#pragma once

#include "base/files.h"
#include "report/page.h"

namespace eureka {

// Is there a step-N/maps/attention.safetensors in it?
bool is_look_directory(const fs::path& directory);

PageSection look_section(const fs::path& directory);

}  // namespace eureka
