// The directory of one run: the only state there is. One process at a time holds it.
//
//   RunDirectory directory = RunDirectory::create(path, config);       refuses a directory that already holds a run
//   RunDirectory directory = RunDirectory::reopen(path, config);       refuses another config than the run's own
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/files.h"
#include "io/tfevents.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/records/metrics_row.h"

namespace eureka {

enum class RunStatus { running, finished, diverged, interrupted, failed };
std::string_view status_name(RunStatus status);

class RunDirectory {
 public:
  static RunDirectory create(const fs::path& path, const RunConfig& config);
  static RunDirectory reopen(const fs::path& path, const RunConfig& config);

  const fs::path& path() const { return path_; }

  // One row of metrics.jsonl, and the same numbers for TensorBoard: val_loss becomes val/loss.
  void log_metrics(const MetricsRow& row);
  void log_event(const nlohmann::ordered_json& event);

  // Byte offsets of the logs into `loop`, after making them durable; and the way back.
  void mark(LoopState& loop);
  void rewind(const LoopState& loop);

  // meta.json: facts about this machine and how the run stands. Not part of what is repeated bit by bit.
  void write_meta(RunStatus status, const nlohmann::ordered_json& facts);
  void write_summary(const nlohmann::ordered_json& summary);

 private:
  RunDirectory(const fs::path& path, const RunConfig& config);
  void open_logs();

  fs::path path_;
  std::int64_t seed_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> metrics_;
  std::unique_ptr<AppendFile> events_;
  std::unique_ptr<EventWriter> scalars_;
};

// Throws Error(config) when the run in `run_directory` has another config: a resumed run keeps its own.
void refuse_other_config(const fs::path& run_directory, const RunConfig& config);

// summary.json of a run that has ended (finished or diverged), if there is one.
std::optional<nlohmann::ordered_json> read_summary(const fs::path& run_directory);

// config.toml of a run directory. Throws Error(input) when there is none.
ConfigEntries read_run_config(const fs::path& run_directory);

}  // namespace eureka
