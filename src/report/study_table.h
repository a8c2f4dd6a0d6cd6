// What a study found, for people: a table, a sentence for each arm, and the survival curves; before them, where the
// study has axes, all points at one look.
#pragma once

#include <string>
#include <vector>

#include "lab/study_report.h"

namespace eureka {

struct StudyTextOptions {
  int width = 1000;  // of the terminal; narrow ones get fewer columns
  bool color = false;
  std::vector<std::string> curves;  // arms to draw beside the baseline; the soonest and the latest when empty
};

// Point by point. Lines ended by '\n'.
std::string study_text(const StudyReport& report, const StudyTextOptions& options);

}  // namespace eureka
