// A look inside a run afterwards: any diagnostic on any of its checkpoints, on as many samples as one likes. The run
// directory is read and left as it is.
//
//   RunLook look({.run = "runs/a", .diagnostics = "attention"}, catalog);
//   NamedNumbers numbers = look.at(400).numbers;
//
// Ensures: on the training data, with the samples the run itself looked at, the numbers are those of its row of
// metrics, but for what an intervention changed at that very step: a checkpoint is of before.
#pragma once

#include <string>

#include "train/diagnosis.h"
#include "train/interventions.h"
#include "train/run.h"
#include "train/wanted_keys.h"

namespace eureka {

// Validation: what the run is judged by. Training: the batch of the update that follows the checkpoint.
enum class LookData { validation, training };
constexpr auto enum_names(LookData) { return std::array{"validation", "training"}; }

struct RunLookRequest {
  fs::path run;
  // Names separated by commas; "all": every one there is; empty: those of the run itself, or else `attention`.
  std::string diagnostics = {};
  ConfigEntries options = {};  // diagnose.NAME.option; beside those the run has
  LookData data = LookData::validation;
  std::int64_t samples = 256;  // the first so many, or all if there are fewer
};

class RunLook {
 public:
  // Throws Error(config) for names and options nobody knows, Error(input) when there is no run.
  RunLook(const RunLookRequest& request, const Catalog& catalog, const MakeParts& make = make_parts);

  const RunConfig& config() const { return config_; }

  // How many are looked at.
  std::int64_t samples() const { return std::min(request_.samples, batch_.samples); }

  // At the checkpoint of `step`; 0: as the run began. Throws Error(input) as read_checkpoint does.
  LookResult at(std::int64_t step);

 private:
  void restore(std::int64_t step);

  RunLookRequest request_;
  RunConfig config_;
  MakeParts make_;
  RunParts parts_;
  WantedKeys wanted_;
  Interventions interventions_;
  Diagnosis diagnosis_;
  Batch batch_;
};

}  // namespace eureka
