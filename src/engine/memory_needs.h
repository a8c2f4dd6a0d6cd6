// How much memory training takes, known from the config before any of it is taken.
//
//   const MemoryNeeds needs = fused_memory(config, 128);
//   needs.total()                                        bytes of an engine that trains on batches of 128 samples
#pragma once

#include "engine/engine.h"

namespace eureka {

// Bytes.
struct MemoryNeeds {
  std::size_t parameters = 0;   // and the same packed for the products
  std::size_t optimizer = 0;    // its state
  std::size_t gradients = 0;    // one for each group of samples
  std::size_t activations = 0;  // of all threads
  std::size_t looking = 0;      // of diagnostics
  std::size_t data = 0;         // batches
  std::size_t states = 0;       // of the run, held for checkpoints

  std::string how_to_shrink;  // which options make it smaller

  std::size_t total() const { return parameters + optimizer + gradients + activations + looking + data + states; }
};

// Of the fused engine alone. Requires: the config can run in it (why_not_fused).
// look: what diagnostics ask for; no points and no parameters: nobody looks.
MemoryNeeds fused_memory(const EngineConfig& config, std::size_t samples, const ObservationRequest& look = {});

// Throws Error(config) when the machine does not have so much at all. who: "this run needs"
void refuse_beyond_machine(const std::string& who, double bytes, const std::string& hint);

}  // namespace eureka
