// One line of events.jsonl: something that happened in a run, and after how many updates it was known.
//
//   RunEvent{100, CheckpointWritten{}}
//   for (const RunEvent& event : read_events("runs/a"))
//     if (const auto* moment = std::get_if<MomentConfirmed>(&event.what)) ... moment->at
#pragma once

#include <cstdint>
#include <limits>
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
// The rise from where the run began to the plateau of its task: no moment. Told when it was first seen.
struct FirstRiseSeen {
  double at = 0;
  double from = 0, to = 0;
};
// Validation followed training, which had long been solved: no moment.
struct GrokkingConfirmed {
  double at = 0;
  double from = 0, to = 0;
  double score = 0;
};
struct GrokkingWithdrawn {};
struct CheckpointWritten {};
// One that stays because of the moment confirmed with it.
struct MomentCheckpoint {
  std::int64_t of = 0;  // its step
  std::string stage;    // plateau, before, half-way or after
};
struct Divergence {
  std::string quantity;  // train_loss or val_loss
  std::string value;     // nan, inf or -inf
};

// An intervention of the config takes hold, ends, or happens once, before the update of that step.
struct InterventionNoted {
  std::string kind;   // freeze, redraw, ...: a table of [intervene]
  std::string phase;  // begins, ends or happens
};
// Where values are going to be transplanted from: a run is a function of its config and of these.
struct TransplantSource {
  std::string run;
  std::int64_t checkpoint = 0;  // its step
  std::uint64_t crc32c = 0;     // of the values that are taken
  std::int64_t at = 0;          // the step of the transplant

  // The same place, whatever lies there now.
  bool is_at_place_of(const TransplantSource& other) const { return run == other.run && at == other.at; }
  bool operator==(const TransplantSource&) const = default;
};

struct RunEvent {
  std::int64_t step = 0;
  using What =
      std::variant<PlateauConfirmed, MomentConfirmed, MomentWithdrawn, CheckpointWritten, MomentCheckpoint, Divergence,
                   InterventionNoted, TransplantSource, FirstRiseSeen, GrokkingConfirmed, GrokkingWithdrawn>;
  What what;
};

// One line of JSON, without its end.
std::string to_text(const RunEvent& event);

// Throws Error(input) at `where` when it is no event.
RunEvent parse_event(std::string_view line, const std::string& where);

// All whole lines of a run's events.jsonl, or of its first `bytes`. Throws Error(input) with file and line.
std::vector<RunEvent> read_events(const fs::path& run_directory,
                                  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace eureka
