// What a report says of one thing: a run, a study, several runs side by side.
#pragma once

#include <vector>

#include "report/arm_tones.h"
#include "report/page.h"
#include "report/run_data.h"
#include "report/study_data.h"

namespace eureka {

PageSection run_section(const RunData& run);
PageSection study_section(const StudyData& study, ArmTones& tones);

// Curves of single runs in one plot, and in what their configs differ from the first.
PageSection comparison_section(const std::vector<RunData>& runs, ArmTones& tones);

// "0.1.0 (9ea2394555a3)": the version and the commit it was built from.
std::string program_text(const RunMeta& meta);
// Without the folder the program lay in: "eureka train two-step --out runs/a".
std::string command_text(const std::string& command);

// "lr = 0.001, rule = softmax" for each config: the settings in which it differs from the first; what is never the same
// (the seed) is left out.
std::vector<std::string> config_differences(const std::vector<const ConfigEntries*>& configs);

}  // namespace eureka
