// Two groups of times, pooled: who was at risk and who had the event, at each time that had events.
#pragma once

#include <span>
#include <vector>

#include "stats/restricted_mean.h"

namespace eureka {

struct EventRow {
  double time = 0;
  double at_risk_first = 0, at_risk_second = 0;  // just before `time`
  double events_first = 0, events_second = 0;
};

std::vector<EventRow> event_table(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second);

}  // namespace eureka
