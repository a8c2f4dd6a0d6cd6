// Fills in which keys the fixed attention of [intervene.attention] goes to: Batch::wanted. Whoever hands batches of a
// run to its engine asks this first.
//
//   const WantedKeys wanted(config, task);
//   task.sample(request, batch);
//   wanted.fill(batch, step);
#pragma once

#include <cstdint>

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
  const Task& task_;
  TaskShape shape_;
  AttentionFix kind_;
  StepInterval during_;
  std::uint8_t role_ = 0;
  std::int64_t tokens_ = 0;  // of the model; 0: nobody wants keys
};

}  // namespace eureka
