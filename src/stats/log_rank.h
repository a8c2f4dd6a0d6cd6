// Log-rank test (Mantel-Haenszel): do two groups of runs reach the event at the same pace?
#pragma once

#include <optional>
#include <span>

#include "stats/kaplan_meier.h"

namespace eureka {

struct LogRank {
  double observed = 0;  // events in the second group
  double expected = 0;  // of those, if both groups had the same hazard
  double variance = 0;
  double chi_square = 0;  // one degree of freedom
  double p = 1;
};

// Nothing when no event ever had both groups at risk: there is no information.
std::optional<LogRank> log_rank(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second);

}  // namespace eureka
