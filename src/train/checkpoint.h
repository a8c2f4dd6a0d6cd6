// Checkpoints: checkpoints/step-N/{model.safetensors, optimizer.safetensors, state.json, DONE}.
//
// A checkpoint appears whole or not at all: it is written beside, synced, and renamed into place. DONE holds the length
// and checksum of every file, so that a damaged checkpoint is told from an intact one before any of it is used.
#pragma once

#include <cstdint>
#include <vector>

#include "base/files.h"
#include "engine/engine.h"
#include "train/records/loop_state.h"

namespace eureka {

struct Checkpoint {
  LoopState loop;
  EngineState engine;
};

void write_checkpoint(const fs::path& run_directory, const Checkpoint& checkpoint);

// Steps of the checkpoints that have a DONE, ascending.
std::vector<std::int64_t> list_checkpoints(const fs::path& run_directory);

// Throws Error(input) when it is damaged; the hint names the newest intact one before it. One that a later program
// wrote in a format of its own is refused as such.
Checkpoint read_checkpoint(const fs::path& run_directory, std::int64_t step);

// Removes all but the newest `keep` (0: none) and whatever a crash left half-written.
void prune_checkpoints(const fs::path& run_directory, std::int64_t keep);

}  // namespace eureka
