// The directory of one run: the only state there is. One process at a time holds it.
//
//   RunDirectory directory = RunDirectory::create(path, config);       refuses a directory that already holds a run
//   RunDirectory directory = RunDirectory::reopen(path, config);       refuses another config than the run's own
//
// Whatever writes to it throws Error(failed) when the directory has been removed meanwhile.
#pragma once

#include <memory>
#include <string>

#include "base/directory_lock.h"
#include "base/files.h"
#include "io/tfevents.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/records/metrics_row.h"
#include "train/records/run_event.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"

namespace eureka {

class RunDirectory {
 public:
  static RunDirectory create(const fs::path& path, const RunConfig& config);
  static RunDirectory reopen(const fs::path& path, const RunConfig& config);

  const fs::path& path() const { return path_; }

  // Throws Error(failed) when it has been.
  void refuse_if_removed() const { lock_->refuse_if_lost(); }

  // One row of metrics.jsonl, and the same numbers for TensorBoard: val_loss becomes val/loss. That the directory was
  // removed is noticed a second later at most: on a network's file system each look is a question to the server.
  void log_metrics(const MetricsRow& row);
  void log_event(const RunEvent& event);
  // What a diagnostic has beside numbers: looks/step-N/<name>.
  void write_look(std::int64_t step, const std::string& name, const std::string& bytes);

  // Byte offsets of the logs into `loop`; mark() makes them durable first.
  void measure(LoopState& loop) const;
  void mark(LoopState& loop);

  // Back to where the run stood at `loop`. First the summary goes, then the later checkpoints, and only then the logs
  // are cut to their marks: whenever it is cut short, the run can be resumed. Throws Error(input) before anything is
  // touched when a log is shorter than its mark.
  void rewind(const LoopState& loop);

  // Fills in what is known here: program, command, times, seed, machine, disk.
  void write_meta(RunMeta meta);
  // Of a run that is about to end and keeps its summary only: checkpoints and looks go. Cut short, it begins again.
  void drop_all_but_logs();
  // The last thing a run writes: with it, it has ended.
  void write_summary(const RunSummary& summary);

 private:
  RunDirectory(const fs::path& path, const RunConfig& config);
  void open_logs();
  void sync_logs();
  void refuse_if_removed_lately();

  fs::path path_;
  std::int64_t seed_;
  std::string started_;  // for the first time, as meta.json says
  Keep keep_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> metrics_;
  std::unique_ptr<AppendFile> events_;
  std::unique_ptr<EventWriter> scalars_;  // none where they would not be kept
  std::int64_t looked_ = 0;               // when it was last seen to be ours, in seconds since this machine was started
};

// Begins the directory `out` with the logs of `run` as they were at `loop`. Throws Error(input) when one was cut since.
void copy_past(const fs::path& run, const LoopState& loop, const fs::path& out);

// Throws Error(config) when the run in `run_directory` has another config: a resumed run keeps its own. What is
// compared is what the two files mean, not what they say.
void refuse_other_config(const fs::path& run_directory, const RunConfig& config);

// The config of the run in a directory, as this program understands it: an option that was not there yet when the run
// was begun has its default. Throws Error(input) when there is no run, Error(config) that names the version which wrote
// it when it has a key, a name or a value that is not known here.
RunConfig read_run_config(const fs::path& run_directory, const Catalog& catalog);

}  // namespace eureka
