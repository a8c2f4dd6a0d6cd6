// state.json of a checkpoint: where the loop of a run stood, enough to continue to the same bits.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"

namespace eureka {

struct LoopState {
  std::int64_t step = 0;  // updates done
  // Saved only because the run was stopped between two checkpoints: gone once it has gone on.
  bool temporary = false;
  // Saved only because it lies around a moment: never pruned.
  bool around_moment = false;
  // Lengths of the logs.
  std::uint64_t metrics_bytes = 0;
  std::uint64_t events_bytes = 0;
  std::uint64_t tensorboard_bytes = 0;
  // Sums since the last row of metrics.
  double loss_sum = 0;
  double accuracy_sum = 0;
  double gradient_norm_sum = 0;
  std::int64_t sum_steps = 0;
};

// The whole text of state.json.
std::string to_text(const LoopState& loop);

// Throws Error(input) at `where` that names the field which is missing or of another type. A field added after format 1
// takes its default where it is missing.
LoopState parse_loop_state(std::string_view text, const std::string& where);

}  // namespace eureka
