// How a run looks for its own moment.
#pragma once

#include "stats/detector.h"
#include "tasks/task.h"
#include "train/config.h"

namespace eureka {

// On the task's metric over the validation samples, with its plateau and the planned length of the run.
DetectorOptions detector_options(const Task& task, const RunConfig& config);

}  // namespace eureka
