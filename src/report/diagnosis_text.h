// A diagnosis for people: where the curve stands, a table of layers, a sentence for each, and what to try as commands.
//
//   print("{}", Layout{diagnosis_text(diagnosis, {.branch_at = 1000}, {.width = 80, .color = true})});
#pragma once

#include <optional>
#include <string>

#include "report/arm_diagnosis.h"

namespace eureka {

struct DiagnosisTextOptions {
  int width = 100;  // of the terminal; commands are not broken
  bool color = false;
};

// `branch_at`: the checkpoint from which the run can be continued on its plateau, if there is one.
std::string diagnosis_text(const RunDiagnosis& diagnosis, std::optional<std::int64_t> branch_at,
                           const DiagnosisTextOptions& options);

// Counts and medians by arm.
std::string diagnosis_text(const StudyDiagnosis& study, const DiagnosisTextOptions& options);

}  // namespace eureka
