// A run over several processes, as its loop sees it: rank 0 runs it as any other and says what comes next, the others
// do that, and write nothing.
//
//   Lead lead(ranks);                                              on rank 0; nullptr: a run of one process
//   if (lead.announce(Order::step)) ... somebody has been asked to stop
//
//   RunStatus status = follow_run(*ranks, catalog, stop);          on every other
#pragma once

#include <atomic>
#include <span>

#include "engine/engine.h"
#include "train/catalog.h"
#include "train/records/run_status.h"

namespace eureka {

// What all ranks do next.
enum class Order { validate, probes, gradient, step, finished, interrupted, diverged };

class Lead {
 public:
  explicit Lead(Ranks* ranks) : ranks_(ranks) {}

  int processes() const { return ranks_ == nullptr ? 1 : ranks_->place().size; }

  // The config, before the engine is made; empty: there is nothing to do.
  void share_config(const std::string& toml);
  // Where the run stands.
  void share_state(std::int64_t step, Engine& engine);

  // Whether a rank has been asked to stop.
  bool announce(Order order);
  // All end as the run does; nothing may be announced any more.
  void end(RunStatus status);

 private:
  Ranks* ranks_;
};

// For every rank but 0. `stop` becomes a wish of which rank 0 hears.
RunStatus follow_run(Ranks& ranks, const Catalog& catalog, const std::atomic<bool>& stop);

}  // namespace eureka
