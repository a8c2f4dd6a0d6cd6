// One line of events.jsonl: something that happened in a run, and after how many updates it was known.
//
//   RunEvent{100, CheckpointWritten{}}
//   for (const RunEvent& event : read_events("runs/a"))
//     if (const auto* moment = std::get_if<MomentConfirmed>(&event.what)) ... moment->at
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"

namespace eureka {

struct PlateauConfirmed {
  double start = 0, end = 0;
  double level = 0;
};
struct MomentConfirmed {
  double at = 0;  // the step in the middle of the rise
  double from = 0, to = 0;
  double score = 0;
};
// The last confirmed moment turned out to be none.
struct MomentWithdrawn {};
struct CheckpointWritten {};
struct Divergence {
  std::string quantity;  // train_loss or val_loss
  std::string value;     // nan, inf or -inf
};

struct RunEvent {
  std::int64_t step = 0;
  std::variant<PlateauConfirmed, MomentConfirmed, MomentWithdrawn, CheckpointWritten, Divergence> what;
};

// One line of JSON, without its end.
std::string to_text(const RunEvent& event);

// Throws Error(input) at `where` when it is no event.
RunEvent parse_event(std::string_view line, const std::string& where);

// All whole lines of a run's events.jsonl. Throws Error(input) with file and line.
std::vector<RunEvent> read_events(const fs::path& run_directory);

}  // namespace eureka
