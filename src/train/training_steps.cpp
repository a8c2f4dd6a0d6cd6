#include "train/training_steps.h"

#include "train/schedule.h"

namespace eureka {

TrainingSteps::TrainingSteps(const RunConfig& config, RunParts parts)
    : config_(config),
      task_(std::move(parts.task)),
      chosen_(std::move(parts.engine)),
      validation_(draw_validation_batch(*task_, config)),
      probes_(draw_probes(*task_, config)),
      wanted_(config, *task_),
      interventions_(config, chosen_.engine->parameters()) {}

const Batch& TrainingSteps::batch(std::int64_t step) {
  if (batch_step_ == step) return batch_;
  draw_training_batch(*task_, config_, step, batch_);
  wanted_.fill(batch_, step);
  batch_step_ = step;
  return batch_;
}

const StepResult& TrainingSteps::gradient(std::int64_t step) {
  if (gradient_step_ != step) gradient_ = engine().gradient(batch(step), step);
  gradient_step_ = step;
  return gradient_;
}

StepResult TrainingSteps::take(std::int64_t step) {
  const StepResult& result = gradient(step);
  const double norm = interventions_.change_gradient(engine(), step, result.gradient_norm);
  engine().update({.step = step,
                   .lr = learning_rate(config_.train, step),
                   .gradient_scale = clip_factor(config_.train.clip, norm),
                   .frozen = interventions_.frozen_at(step)});
  return result;
}

std::vector<Evaluation> TrainingSteps::evaluate_probes(std::int64_t step) {
  std::vector<Evaluation> evaluations;
  for (ProbeBatch& probe : probes_) evaluations.push_back(evaluate(probe.batch, step));
  return evaluations;
}

Evaluation TrainingSteps::evaluate(Batch& samples, std::int64_t step) {
  wanted_.fill(samples, step);
  return engine().evaluate(samples, step);
}

}  // namespace eureka
