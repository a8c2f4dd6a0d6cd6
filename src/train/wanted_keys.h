// Fills in which keys the fixed attention of [intervene.attention] goes to: Batch::wanted. Whoever hands batches of a
// run to its engine asks this first.
//
//   const WantedKeys wanted(config, task);
//   task.sample(request, batch);
//   wanted.fill(batch, step);
#pragma once

#include <cstdint>
#include <vector>

#include "engine/head_interventions.h"
#include "tasks/task.h"
#include "train/config.h"

namespace eureka {

class WantedKeys {
 public:
  // `task` outlives it.
  WantedKeys(const RunConfig& config, const Task& task);

  // Names keys where fixed attention that needs them is in force at `step`, and none elsewhere.
  void fill(Batch& batch, std::int64_t step) const;

 private:
  // A token of the model and the tokens or tiles of the task that it shows.
  using Shown = std::vector<std::size_t>;

  const Task& task_;
  TaskShape shape_;
  AttentionFix kind_;
  StepInterval during_;
  std::uint8_t role_ = 0;
  std::vector<Shown> tokens_;
};

}  // namespace eureka
