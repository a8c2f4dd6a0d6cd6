// The samples of a run: what it trains on at a step, and what it is judged by. Pure functions of its config.
#pragma once

#include "tasks/task.h"
#include "train/config.h"

namespace eureka {

void draw_training_batch(const Task& task, const RunConfig& config, std::int64_t step, Batch& batch);

Batch draw_validation_batch(const Task& task, const RunConfig& config);

// What else the task wants a run to be judged by (Task::probes), as many samples each.
struct ProbeBatch {
  std::string name;
  Batch batch;
};
std::vector<ProbeBatch> draw_probes(const Task& task, const RunConfig& config);

}  // namespace eureka
