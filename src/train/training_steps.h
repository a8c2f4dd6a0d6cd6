// What the steps of a run are made of, without anything that is written of them: the same on every rank.
//
//   TrainingSteps steps(config, std::move(parts));
//   StepResult result = steps.take(step);                   gradient, interventions, update
//   Evaluation evaluation = steps.validate(step);
#pragma once

#include <string>
#include <vector>

#include "train/config.h"
#include "train/interventions.h"
#include "train/run.h"
#include "train/run_data.h"
#include "train/wanted_keys.h"

namespace eureka {

class TrainingSteps {
 public:
  // `config` outlives it.
  TrainingSteps(const RunConfig& config, RunParts parts);

  const Task& task() const { return *task_; }
  Engine& engine() const { return *chosen_.engine; }
  const std::string& why_not_fused() const { return chosen_.why_not_fused; }
  Interventions& interventions() { return interventions_; }
  const std::vector<ProbeBatch>& probes() const { return probes_; }

  // The training batch of a step.
  const Batch& batch(std::int64_t step);
  // Of a step that has not been taken; computed once.
  const StepResult& gradient(std::int64_t step);
  bool has_gradient(std::int64_t step) const { return gradient_step_ == step; }
  StepResult take(std::int64_t step);

  Evaluation validate(std::int64_t step) { return evaluate(validation_, step); }
  // One for each of probes().
  std::vector<Evaluation> evaluate_probes(std::int64_t step);

 private:
  Evaluation evaluate(Batch& samples, std::int64_t step);

  const RunConfig& config_;
  std::unique_ptr<Task> task_;
  ChosenEngine chosen_;
  Batch validation_;
  std::vector<ProbeBatch> probes_;
  WantedKeys wanted_;
  Interventions interventions_;
  Batch batch_;
  std::int64_t batch_step_ = -1;  // whose it is
  StepResult gradient_;
  std::int64_t gradient_step_ = -1;  // whose gradient the engine holds
};

}  // namespace eureka
