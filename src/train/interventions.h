// What a config's [intervene] does to a run: when it is in force, and to what. The training loop asks at a few places.
//
//   Interventions interventions(config, engine.parameters());
//   interventions.load(first_step, events_so_far);                          a transplant's values
//   for (const RunEvent& event : interventions.begin_step(engine, step)) ... log it
//   StepResult result = engine.gradient(batch, step);
//   double norm = interventions.change_gradient(engine, step, result.gradient_norm);
//   engine.update({.step = step, ..., .frozen = interventions.frozen_at(step)});
//
// Ensures: what happens is a function of (config, step, the transplant's source); begin_step() may be repeated at the
// same step, as after a resume, and leaves the same values. A run without interventions pays nothing.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "train/config.h"
#include "train/records/run_event.h"
#include "train/transplant.h"

namespace eureka {

class Interventions {
 public:
  // `parameters` outlives it. Throws Error(config) when groups or layers choose nothing in this model.
  Interventions(const RunConfig& config, const std::vector<ParameterSpec>& parameters);

  bool any() const { return any_; }

  // To go on at `first_step`, after what `past` tells of. Reads what is transplanted then or later; throws
  // Error(config) when it is not there or does not fit, Error(input) when it is no longer what the run began with.
  void load(std::int64_t first_step, const std::vector<RunEvent>& past);

  // Before anything is computed at `step`: what happens once, happens now. Returns what the log is to tell.
  std::vector<RunEvent> begin_step(Engine& engine, std::int64_t step);

  // Between gradient() and update(). Returns the norm of what is there then; `norm` is that of what was there before.
  double change_gradient(Engine& engine, std::int64_t step, double norm) const;

  // As StepSettings::frozen.
  std::span<const std::uint8_t> frozen_at(std::int64_t step) const;

 private:
  void redraw(EngineState& state) const;
  void transplant(EngineState& state) const;
  void move_positions(EngineState& state) const;

  InterventionOptions options_;
  bool any_;
  std::int64_t seed_;
  std::int64_t heads_;
  std::size_t rows_before_input_;  // of the table of positions: the cls token's
  const std::vector<ParameterSpec>& parameters_;
  std::vector<std::uint8_t> frozen_;
  std::vector<std::size_t> redrawn_;
  std::optional<Transplant> transplant_;
  bool source_is_known_ = false;    // the log tells of it
  std::set<std::string> in_force_;  // kinds, as the log has it
};

// Throws Error(config) when the change is about a time before the branch begins, where it would do nothing.
void refuse_past_interventions(const ConfigEntries& change, const RunConfig& config, std::int64_t first_step);

}  // namespace eureka
