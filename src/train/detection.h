// How a run looks for its own moment.
#pragma once

#include "stats/detector.h"
#include "tasks/task.h"
#include "train/config.h"

namespace eureka {

// On the validation accuracy, with the task's own plateau and the planned length of the run.
DetectorOptions detector_options(const Task& task, const RunConfig& config);

// Near the level of a model that has not found the task's hidden step, not at the one it arrives on afterwards.
bool on_plateau_of(const Task& task, double accuracy);

}  // namespace eureka
