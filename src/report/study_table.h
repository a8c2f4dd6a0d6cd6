// What a study found, for people: a table, a sentence for each arm, and the survival curves.
#pragma once

#include <string>

#include "lab/study_report.h"

namespace eureka {

struct StudyTextOptions {
  int width = 160;  // of the terminal; narrow ones get fewer columns
  bool color = false;
};

// Point by point. Lines ended by '\n'.
std::string study_text(const StudyReport& report, const StudyTextOptions& options);

}  // namespace eureka
