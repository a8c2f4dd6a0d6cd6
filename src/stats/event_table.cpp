#include "stats/event_table.h"

#include <map>

namespace eureka {

std::vector<EventRow> event_table(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second) {
  std::map<double, EventRow> rows;
  const auto count_events = [&rows](std::span<const SurvivalTime> group, double EventRow::*events) {
    for (const SurvivalTime& one : group)
      if (one.event) rows[one.time].*events += 1;
  };
  count_events(first, &EventRow::events_first);
  count_events(second, &EventRow::events_second);
  std::vector<EventRow> table;
  for (auto& [time, row] : rows) {
    row.time = time;
    for (const SurvivalTime& one : first) row.at_risk_first += one.time >= time;
    for (const SurvivalTime& one : second) row.at_risk_second += one.time >= time;
    table.push_back(row);
  }
  return table;
}

}  // namespace eureka
