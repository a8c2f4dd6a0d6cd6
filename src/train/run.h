// One training run from its config to its summary.
//
//   RunOutcome outcome = run_training(config, {.directory = "runs/a"}, observer, stop);
//
// Ensures: kill the process anywhere and resume: weights, metrics.jsonl and summary.json end up byte-identical to an
// uninterrupted run, whatever the processor and the number of threads; over several ranks, to float rounding.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "stats/detector.h"
#include "train/config.h"
#include "train/run_directory.h"

namespace eureka {

struct RunRequest {
  fs::path directory;
  bool resume = false;
  std::optional<std::int64_t> resume_step;  // which checkpoint; the newest when not given
  bool saves_moments = true;                // the checkpoints that run.around_moment asks for; their events it tells
  Ranks* ranks = nullptr;                   // of which this is rank 0; the others follow_run() (train/ranked_run.h)
  // Of a run that keeps its summary only: so long it goes on before what it has done is worth a checkpoint on the way.
  std::chrono::milliseconds most_to_lose{30'000};
};

// What a run is made of besides its config. Tests give parts that fail.
struct RunParts {
  std::unique_ptr<Task> task;
  ChosenEngine engine;
};

// The task and the engine that the config names.
RunParts make_parts(const RunConfig& config);
// The same for one of several processes.
RunParts make_parts_of_rank(const RunConfig& config, Ranks& ranks);
using MakeParts = std::function<RunParts(const RunConfig&)>;

// Watches a run, for drawing it. Never changes it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_start(const std::string& /*engine*/, std::int64_t /*first_step*/, std::int64_t /*steps*/) {}
  virtual void on_step(std::int64_t /*updates_done*/) {}
  virtual void on_row(const MetricsRow&, const Findings&) {}
};

struct RunOutcome {
  RunStatus status = RunStatus::finished;
  std::optional<RunSummary> summary;  // nothing when interrupted
};

// `stop` is looked at after every step: once true the run checkpoints and ends as interrupted. The parts are made only
// when there is something left to do.
RunOutcome run_training(const RunConfig& config, const RunRequest& request, RunObserver& observer,
                        const std::atomic<bool>& stop, const MakeParts& make = make_parts);

}  // namespace eureka
