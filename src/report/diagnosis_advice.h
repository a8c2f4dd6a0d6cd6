// What to try after a diagnosis: sentences that say what was measured, and commands for this very run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run_diagnosis.h"

namespace eureka {

struct Advice {
  std::vector<std::string> sentences;
  std::vector<std::string> commands;  // lines of a shell, or of Python for a run that was watched
};

// `branch_at`: the checkpoint from which the run can be continued on its plateau, if there is one.
Advice advice_for(const RunDiagnosis& diagnosis, std::optional<std::int64_t> branch_at);

// As a shell takes it for one word.
std::string shell_word(const std::string& text);

}  // namespace eureka
