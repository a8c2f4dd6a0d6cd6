// Hazard ratio of two groups by Cox regression with one covariate (group membership), ties after Efron.
//
//   std::optional<HazardRatio> hazard = hazard_ratio(baseline, arm);
//   hazard->ratio        // 2.1: at any step an arm's run still waiting is 2.1 times as likely to jump as a baseline's
//   hazard->interval     // by profile likelihood; an absent high end means "as large as you like"
//
// When an arm has no event, or all its events come before any of the other's, the likelihood grows for ever in one
// direction: there is no estimate, only a bound on one side. `limit` says so.
#pragma once

#include <optional>
#include <span>

#include "stats/kaplan_meier.h"

namespace eureka {

enum class Ties { efron, breslow };

enum class HazardLimit {
  none,      // there is an estimate
  zero,      // the likelihood is monotone: the ratio is as small as you like
  infinite,  // the likelihood is monotone: the ratio is as large as you like
};

struct HazardRatio {
  std::optional<double> ratio;           // second group over first; nothing at a limit
  std::optional<double> log_ratio;       // Cox's coefficient
  std::optional<double> standard_error;  // of log_ratio
  OpenInterval interval;                 // for the ratio, by profile likelihood
  HazardLimit limit = HazardLimit::none;
};

// Nothing when no event ever had both groups at risk.
std::optional<HazardRatio> hazard_ratio(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second,
                                        double level = kDefaultLevel, Ties ties = Ties::efron);

}  // namespace eureka
