// The run directory of a training that somebody else does: their program brings the numbers, and what is found in the
// curve, the events, TensorBoard's file and the summary are those of a run of ours.
//
//   WatchedRun run("runs/mine", {.program = "PyTorch 2.13", .model = "Encoder", .attention = "softmax"});
//   run.describe({{"watch.layers.layer0", "encoder.layers.0.self_attn"}});
//   run.log({.step = 25, .numbers = {{"val_accuracy", 0.61}, {"attention/entropy/layer0", 0.97}}});
//   run.end(RunStatus::finished);
//
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/directory_lock.h"
#include "io/tfevents.h"
#include "io/toml.h"
#include "stats/detector.h"
#include "train/noted_rises.h"
#include "train/records/metrics_row.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"

namespace eureka {

// Of config.toml: the key that only a watched run has.
inline constexpr const char* kWatchedProgram = "watch.program";
// Where the task is known to stall, if that was said.
inline constexpr const char* kWatchedPlateau = "watch.plateau_level";

// What config.toml says of a run that was watched; nothing of one of our own.
std::optional<ConfigEntries> read_watched(const fs::path& run_directory);

// How such a run looks for its moment in the number it is judged by (judges_rather).
DetectorOptions watched_detector_options(const std::string& judged_by, std::optional<double> plateau_level);

struct WatchedRunFacts {
  std::string program;    // who trains: "PyTorch 2.13.0"
  std::string model;      // what is trained: "TransformerEncoder"
  std::string attention;  // its rules: "softmax"
  std::string device = "cpu";
  std::int64_t parameters = 0;
  std::int64_t seed = 0;
  std::int64_t threads = 1;
  std::optional<double> plateau_level = {};  // where the task is known to stall
};

class WatchedRun {
 public:
  // Throws Error(output) when the place already holds a run.
  WatchedRun(const fs::path& path, WatchedRunFacts facts);

  const fs::path& path() const { return path_; }

  // More of what config.toml says beside the facts; replaces what was said before.
  void describe(const OptionValues& more);

  // Requires: steps increase. Values that are not finite are written as null.
  void log(const MetricsRow& row);
  const Findings& findings() const;

  // `steps`: updates done in all.
  void end(RunStatus status, std::int64_t steps);

 private:
  void write_meta(RunStatus status, std::int64_t steps) const;
  void choose_judge(const MetricsRow& row);
  void judge(const MetricsRow& row);

  fs::path path_;
  WatchedRunFacts facts_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> metrics_, events_;
  std::unique_ptr<EventWriter> scalars_;
  std::string judged_by_;
  std::optional<MomentDetector> detector_;
  NotedRises noted_;
  std::optional<double> last_judged_, last_validation_loss_;
  std::int64_t last_step_ = -1;
  double started_ = 0;
  MetricsRow seen_;
};

}  // namespace eureka
