// What a study found, printed.
#pragma once

#include "lab/study_report.h"

namespace eureka::cli {

// Table, sentences, survival curves, and where study.json lies in the directory.
void print_report(const StudyReport& report, const fs::path& out);

}  // namespace eureka::cli
