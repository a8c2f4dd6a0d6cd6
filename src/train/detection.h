// How a run looks for its own moment.
#pragma once

#include "stats/detector.h"
#include "tasks/task.h"
#include "train/config.h"
#include "train/records/metrics_row.h"
#include "train/records/run_summary.h"

namespace eureka {

// On the task's metric over the validation samples, with its plateau and the planned length of the run.
DetectorOptions detector_options(const Task& task, const RunConfig& config);

// Both curves of that metric, as far as the row has them: a run's first row has no training yet.
void add_row(const MetricsRow& row, const Metric& metric, MomentDetector& detector);

// What was found in the whole curve, in the words of a summary.
void sum_up(const Findings& findings, const Metric& metric, RunSummary& summary);

}  // namespace eureka
