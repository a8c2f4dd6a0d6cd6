// What a run reports of its inside: when it is looked at, on which samples, and what was seen last.
//
//   Diagnosis diagnosis(config);
//   if (diagnosis.due(step)) numbers = diagnosis.look(engine, training_batch_of(step), step);
//
// Ensures: the numbers are a function of (config, parameters, step); a run that is looked at trains to the same bits.
#pragma once

#include <nlohmann/json.hpp>

#include "diagnostics/diagnostic_set.h"
#include "train/config.h"

namespace eureka {

class Diagnosis {
 public:
  explicit Diagnosis(const RunConfig& config);

  // Whether the row of metrics of this step holds what diagnostics say: at every diagnose.every steps and at the end.
  bool due(std::int64_t step) const;

  // At the first diagnose.samples of the training batch of that step, before its update.
  NamedNumbers look(Engine& engine, const Batch& batch, std::int64_t step);

  // A row of metrics of a run that is resumed: its numbers, if it has any, were the last ones seen.
  void remember(const nlohmann::ordered_json& row);

  // The numbers seen last and their step; null where nobody looked.
  nlohmann::ordered_json summary() const;

 private:
  DiagnoseOptions options_;
  std::vector<std::string> names_;
  std::int64_t last_step_;
  DiagnosticSet set_;
  nlohmann::ordered_json summary_;
};

}  // namespace eureka
