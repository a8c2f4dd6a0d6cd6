// What a run takes of this machine's memory, known before it begins.
#pragma once

#include <optional>

#include "engine/memory_needs.h"
#include "tasks/task.h"
#include "train/config.h"

namespace eureka {

// Of the whole run: engine, diagnostics, batches, and the states held until a moment is confirmed. Nothing: the config
// runs on the reference engine, whose memory is libtorch's.
std::optional<MemoryNeeds> run_memory(const RunConfig& config, const Task& task);

// Throws Error(config) when this machine does not have it for so many runs at a time.
void refuse_beyond_machine(const RunConfig& config, const Task& task, std::size_t runs_at_a_time = 1);

}  // namespace eureka
