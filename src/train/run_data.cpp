#include "train/run_data.h"

namespace eureka {

void draw_training_batch(const Task& task, const RunConfig& config, std::int64_t step, Batch& batch) {
  task.sample({.seed = static_cast<std::uint64_t>(config.run.seed),
               .stream = "train",
               .step = static_cast<std::uint64_t>(step),
               .samples = config.train.batch},
              batch);
}

namespace {

Batch draw_to_judge(const Task& task, const RunConfig& config, const std::string& stream) {
  Batch batch;
  task.sample({.seed = static_cast<std::uint64_t>(config.run.seed),
               .stream = stream,
               .step = 0,
               .samples = config.train.validation_samples},
              batch);
  return batch;
}

}  // namespace

Batch draw_validation_batch(const Task& task, const RunConfig& config) {
  return draw_to_judge(task, config, "validation");
}

std::vector<ProbeBatch> draw_probes(const Task& task, const RunConfig& config) {
  std::vector<ProbeBatch> batches;
  for (const Probe& probe : task.probes()) batches.push_back({probe.name, draw_to_judge(task, config, probe.stream)});
  return batches;
}

}  // namespace eureka
