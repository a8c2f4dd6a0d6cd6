// The index without script: a table of studies and runs, each with its figures and its report.
#pragma once

#include "serve/answer.h"
#include "serve/run_index.h"

namespace eureka::serve {

Answer plain_page(const IndexSnapshot& index, const std::string& root);

// Its style sheet, and that of what else is shown without script.
Answer plain_style();

}  // namespace eureka::serve
