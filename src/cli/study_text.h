// What a study found, printed.
#pragma once

#include <string>
#include <vector>

#include "lab/study_report.h"

namespace eureka::cli {

// Table, sentences, survival curves, and where study.json lies in the directory. `curves`: arms whose curves are drawn
// whatever they did.
void print_report(const StudyReport& report, const fs::path& out, const std::vector<std::string>& curves = {});

}  // namespace eureka::cli
