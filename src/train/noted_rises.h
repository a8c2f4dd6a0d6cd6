// What a run has told of its rises so far, and what each evaluation adds to it or takes back.
//
//   for (const RiseNews& news : noted.update(detector.findings())) ...      the events of this evaluation, in order
#pragma once

#include <optional>
#include <vector>

#include "stats/detector.h"
#include "train/records/run_event.h"

namespace eureka {

struct RiseNews {
  std::vector<RunEvent::What> events;
  std::optional<Moment> confirmed;  // the moment or grokking they tell of
};

class NotedRises {
 public:
  // Ensures: a function of all findings given so far, so a run that is resumed repeats it from its rows.
  std::vector<RiseNews> update(const Findings& findings);

 private:
  std::size_t moments_ = 0;
  std::size_t groks_ = 0;
  bool first_rise_ = false;
};

}  // namespace eureka
