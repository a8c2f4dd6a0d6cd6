// What a run reports of its inside: when it is looked at, on which samples, and what was seen last.
//
//   Diagnosis diagnosis(config, task);
//   if (diagnosis.due(step)) LookResult look = diagnosis.look(engine, training_batch_of(step), step,
//   gradient_is_there);
//
// Ensures: the numbers are a function of (config, parameters, step); a run that is looked at trains to the same bits.
#pragma once

#include <optional>
#include <span>

#include "diagnostics/diagnostic_set.h"
#include "train/config.h"
#include "train/records/metrics_row.h"

namespace eureka {

class Diagnosis {
 public:
  // The task must outlive it.
  Diagnosis(const RunConfig& config, const Task& task);

  // Whether the row of metrics of this step holds what diagnostics say: at every diagnose.every steps and at the end.
  bool due(std::int64_t step) const;

  // Whether a look needs the gradients of the parameters: those of the step that is about to be taken, if it is.
  bool wants_gradient(std::int64_t step) const;

  // What a look asks for.
  ObservationRequest wants() const { return set_.wants(); }

  // At the first diagnose.samples of the training batch of that step, before its update. `gradient_pending`: the engine
  // has computed that step's gradient already.
  // `frozen`: who rested in the update before (StepSettings::frozen).
  LookResult look(Engine& engine, const Batch& batch, std::int64_t step, bool gradient_pending,
                  std::span<const std::uint8_t> frozen);

  // A row of metrics of a run that is resumed: its numbers, if it has any, were the last ones seen.
  void remember(const MetricsRow& row);

  // The numbers seen last and their step, if anybody looked.
  const std::optional<MetricsRow>& seen() const { return seen_; }

 private:
  DiagnoseOptions options_;
  TrainOptions train_;
  const Task& task_;
  std::vector<std::string> names_;
  DiagnosticSet set_;
  std::optional<MetricsRow> seen_;
};

}  // namespace eureka
