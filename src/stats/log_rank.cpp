#include "stats/log_rank.h"

#include "stats/distributions.h"
#include "stats/event_table.h"

namespace eureka {

std::optional<LogRank> log_rank(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second) {
  LogRank result;
  for (const EventRow& row : event_table(first, second)) {
    const double at_risk = row.at_risk_first + row.at_risk_second, events = row.events_first + row.events_second;
    const double share = row.at_risk_second / at_risk;
    result.observed += row.events_second;
    result.expected += events * share;
    if (at_risk > 1) result.variance += events * share * (1 - share) * (at_risk - events) / (at_risk - 1);
  }
  if (result.variance <= 0) return {};
  const double excess = result.observed - result.expected;
  result.chi_square = excess * excess / result.variance;
  result.p = chi_square_tail(result.chi_square);
  return result;
}

}  // namespace eureka
