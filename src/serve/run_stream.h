// What is new in a run, as server-sent events, for one who watches it.
//
//   RunStream stream(tree, "cures/softmax/seed-1", "");
//   stream.news()          "id: 1200-310\nevent: row\ndata: {...}\n\n", or nothing when nothing is new
//
// Events: row {"step", "values"}, event (a line of events.jsonl), status {"status", "step", "steps"}, and reset: the
// files were cut back or replaced, so what was shown is to be read anew.
#pragma once

#include <string>

#include "serve/run_facts.h"
#include "serve/served_tree.h"

namespace eureka::serve {

class RunStream {
 public:
  // `place`: an id of an event that was sent before; empty: from now on.
  RunStream(const ServedTree& tree, std::string id, const std::string& place);

  std::string news();

  // What it has told up to now.
  struct Log {
    std::uint64_t offset = 0, inode = 0;
    double last_step = -1;
    bool operator==(const Log&) const = default;
  };
  struct Place {
    Log metrics, events;
    std::string status;
    bool operator==(const Place&) const = default;
  };
  const Place& place() const { return at_; }
  // As if it had told what lies between.
  void go_to(const Place& place) { at_ = place; }
  const std::string& id() const { return id_; }

 private:
  void begin_at_end(const OpenDirectory& directory, const char* file, Log& log) const;
  // The whole lines behind the offset, if the file is still the one that was read.
  enum class Change { none, lines, reset };
  Change read_on(const OpenDirectory& directory, const char* file, Log& log, std::string& lines) const;
  std::string row_event(std::string_view line);
  std::string other_event(std::string_view line);
  std::string status_event(const OpenDirectory& directory);
  std::string event(const char* name, const std::string& data) const;

  const ServedTree& tree_;
  std::string id_;
  Place at_;
  RunFacts facts_;
};

}  // namespace eureka::serve
