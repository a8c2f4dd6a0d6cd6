// Tasks by their name, and batches of them.
#pragma once

#include "tasks/task.h"

namespace eureka {

inline std::unique_ptr<Task> make(const std::string& name, const OptionValues& options = {}) {
  return Registry<Task>::instance().make(name, options);
}

inline Batch draw(const Task& task, std::int64_t samples, const std::string& stream = "train") {
  Batch batch;
  task.sample({.seed = 3, .stream = stream, .step = 0, .samples = samples}, batch);
  return batch;
}

inline OptionValue whole(std::int64_t value) { return value; }

}  // namespace eureka
