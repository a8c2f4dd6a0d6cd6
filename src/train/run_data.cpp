#include "train/run_data.h"

namespace eureka {

void draw_training_batch(const Task& task, const RunConfig& config, std::int64_t step, Batch& batch) {
  task.sample({.seed = static_cast<std::uint64_t>(config.run.seed),
               .stream = "train",
               .step = static_cast<std::uint64_t>(step),
               .samples = config.train.batch},
              batch);
}

Batch draw_validation_batch(const Task& task, const RunConfig& config) {
  Batch batch;
  task.sample({.seed = static_cast<std::uint64_t>(config.run.seed),
               .stream = "validation",
               .step = 0,
               .samples = config.train.validation_samples},
              batch);
  return batch;
}

}  // namespace eureka
