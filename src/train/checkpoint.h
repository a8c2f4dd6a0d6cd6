// Checkpoints: checkpoints/step-N/{model.safetensors, optimizer.safetensors, state.json, DONE}.
//
// A checkpoint appears whole or not at all: it is written beside, synced, and renamed into place; and it goes the same
// way. DONE holds the length and checksum of every file, so that a damaged checkpoint is told from an intact one before
// any of it is used.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/files.h"
#include "engine/engine.h"
#include "train/records/loop_state.h"

namespace eureka {

struct Checkpoint {
  LoopState loop;
  EngineState engine;
};

// The directory checkpoints/ must be there: one that was removed under a run is not made again.
void write_checkpoint(const fs::path& run_directory, const Checkpoint& checkpoint);

// Steps of the checkpoints that have a DONE, ascending.
std::vector<std::int64_t> list_checkpoints(const fs::path& run_directory);

// Throws Error(input) when it is damaged; the hint names the newest intact one before it. One that a later program
// wrote in a format of its own is refused as such.
Checkpoint read_checkpoint(const fs::path& run_directory, std::int64_t step);

// Removes all but the newest `keep` (0: none) and whatever a crash left half-written or half-removed. Those in `chosen`
// and those around a moment stay and do not count.
void prune_checkpoints(const fs::path& run_directory, std::int64_t keep, const std::set<std::int64_t>& chosen = {});

// One that is not LoopState::temporary.
bool has_lasting_checkpoint(const fs::path& run_directory, std::int64_t step);

void remove_checkpoint(const fs::path& run_directory, std::int64_t step);

// Those later than `step`, the newest first: whenever it is cut short, what is left can be resumed. Durable on return.
void remove_checkpoints_after(const fs::path& run_directory, std::int64_t step);

// Those a run saved when it was stopped (LoopState::temporary), but not the one of `step`.
void remove_temporary_checkpoints(const fs::path& run_directory, std::int64_t except);

}  // namespace eureka
