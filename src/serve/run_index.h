// The runs and studies below the root, kept up to date: what has not changed is not read again.
//
//   RunIndex index(tree);
//   const auto now = index.snapshot();          at most so old as kFresh
//   now->entries, now->stamp
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "serve/run_facts.h"
#include "serve/served_tree.h"
#include "serve/study_facts.h"

namespace eureka::serve {

struct IndexEntry {
  std::string id;
  std::string study;                    // the id of the one around it; empty: none
  std::string arm, point;               // of a run in a study
  std::shared_ptr<const RunFacts> run;  // one of the two
  std::shared_ptr<const StudyFacts> of_study;
  std::size_t trials_ended = 0, trials_running = 0;  // of a study: its runs
  std::int64_t changed = 0;
};

struct IndexSnapshot {
  std::uint64_t stamp = 0;  // another whenever an entry is
  std::vector<IndexEntry> entries;
  std::set<std::string> varied;      // the options in which the runs differ, but for the seed
  std::size_t unfit = 0, links = 0;  // directories that cannot be shown
  bool is_cut = false;               // there was more than is looked at

  const IndexEntry* find(const std::string& id) const;
};

class RunIndex {
 public:
  static constexpr std::chrono::milliseconds kFresh{700}, kFreshForOne{10'000};

  explicit RunIndex(const ServedTree& tree) : tree_(tree) {}

  std::shared_ptr<const IndexSnapshot> snapshot();
  // With this entry as it is now; if it is a run, the others may be as they were kFreshForOne ago: whoever looks at one
  // run does not wait until all are looked through.
  std::shared_ptr<const IndexSnapshot> snapshot_with(const std::string& id);

 private:
  struct Known {
    std::shared_ptr<const RunFacts> run;
    std::shared_ptr<const StudyFacts> study;
    bool is_seen = false;
  };
  struct Place {
    std::string id, study;
    int depth = 0;
  };

  template <class Facts>
  void bring_up_to_date(std::shared_ptr<const Facts>& known, const OpenDirectory& directory);
  std::shared_ptr<const IndexSnapshot> look_through();
  void look_into(const OpenDirectory& directory, const Place& place, IndexSnapshot& into);
  void add_run(const OpenDirectory& directory, const Place& place, IndexSnapshot& into);
  void count_trials(IndexSnapshot& into) const;
  void find_varied(IndexSnapshot& into) const;

  const ServedTree& tree_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::shared_ptr<const IndexSnapshot> last_;
  std::chrono::steady_clock::time_point looked_{};
  std::size_t directories_ = 0;
  bool has_changed_ = false;
};

}  // namespace eureka::serve
