// What is told of a run in a list of many: read from its records, and again only from those that have changed.
//
//   RunFacts facts;
//   if (!facts.is_current(directory)) facts.refresh(directory);
//   facts.status, facts.metrics.last
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/served_tree.h"

namespace eureka::serve {

// The rows of metrics.jsonl so far. Of a long file that is met for the first time only the end is read, and its best
// value stays unknown.
struct MetricsFacts {
  std::string column;  // the run is judged by it
  std::optional<double> step, last, best;
  bool is_best_known = true;
  std::uint64_t inode = 0, offset = 0;  // behind the last whole line

  void read_on(const OpenFile& file);

 private:
  void take(std::string_view line);
};

// Never the same twice.
std::uint64_t next_version();

// Is more of this metric better? "val_accuracy": yes.
bool is_better_higher(std::string_view column);

class RunFacts {
 public:
  bool is_current(const OpenDirectory& directory) const;
  void refresh(const OpenDirectory& directory);

  std::string task, rule, engine, status;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> updates, steps;  // done, and planned
  std::optional<double> moment, batch;
  std::optional<double> rise_from, rise_to;  // of the moment
  MetricsFacts metrics;
  // Of the config, by key. Most runs share most of them, so they are kept once for all.
  std::vector<std::pair<std::string_view, std::string_view>> options;
  std::int64_t changed = 0;   // the newest of its files, nanoseconds since 1970
  std::uint64_t version = 0;  // another at every refresh, of any run or study
  bool is_damaged = false;    // one of its records cannot be read

  bool has_ended() const { return stamps_.summary.exists; }
  // Finished before its last step, as train.until asked.
  bool has_stopped_at_moment() const;

 private:
  void read_config(const OpenDirectory& directory);
  void read_metrics_on(const OpenDirectory& directory);
  void read_records(const OpenDirectory& directory);

  struct Stamps {
    FileStamp config, meta, summary, events, metrics;
    bool operator==(const Stamps&) const = default;
  };
  static Stamps stamps_of(const OpenDirectory& directory);

  Stamps stamps_;
  bool is_read_ = false;
  bool ends_at_moment_ = false;  // by its config
  bool is_config_damaged_ = false, is_record_damaged_ = false;
};

}  // namespace eureka::serve
