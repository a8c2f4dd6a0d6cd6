#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "stats/distributions.h"

namespace eureka {
namespace {

// What is drawn as one: a run, or the two runs that share a seed.
struct Unit {
  std::optional<std::size_t> first, second;  // places in the groups' sorted times
};

struct Group {
  std::vector<SurvivalTime> times;
  std::vector<std::int64_t> seeds;
};

Group sorted_group(std::span<const SeededTime> runs, double horizon) {
  std::vector<SeededTime> sorted(runs.begin(), runs.end());
  for (SeededTime& run : sorted) run.outcome = cut_at_horizon(std::span(&run.outcome, 1), horizon)[0];
  std::sort(sorted.begin(), sorted.end(), [](const SeededTime& a, const SeededTime& b) {
    if (a.outcome.time != b.outcome.time) return a.outcome.time < b.outcome.time;
    if (a.outcome.event != b.outcome.event) return a.outcome.event;
    return a.seed < b.seed;
  });
  Group group;
  for (const SeededTime& run : sorted) {
    group.times.push_back(run.outcome);
    group.seeds.push_back(run.seed);
  }
  return group;
}

// Pairs first, then what only one group has: three strata, each drawn from with its own size.
std::vector<std::vector<Unit>> make_strata(const Group& first, const Group& second) {
  std::map<std::int64_t, Unit> units;
  for (std::size_t i = 0; i < first.seeds.size(); ++i) {
    EUREKA_CHECK(!units[first.seeds[i]].first, "a seed twice in one group");
    units[first.seeds[i]].first = i;
  }
  for (std::size_t i = 0; i < second.seeds.size(); ++i) {
    EUREKA_CHECK(!units[second.seeds[i]].second, "a seed twice in one group");
    units[second.seeds[i]].second = i;
  }
  std::vector<std::vector<Unit>> strata(3);
  for (const auto& [seed, unit] : units) strata[unit.first && unit.second ? 0 : unit.first ? 1 : 2].push_back(unit);
  return strata;
}

struct LogRatio {
  double value = 0;
  double error = 0;  // standard error by the delta method, pairs together
};

class Resampler {
 public:
  Resampler(Group first, Group second, double horizon)
      : first_(std::move(first)), second_(std::move(second)), horizon_(horizon), strata_(make_strata(first_, second_)) {
    first_weights_.assign(first_.times.size(), 1.0);
    second_weights_.assign(second_.times.size(), 1.0);
    for (const auto& stratum : strata_) unit_weights_.emplace_back(stratum.size(), 1.0);
  }

  LogRatio original() {
    for (auto& weights : unit_weights_) std::fill(weights.begin(), weights.end(), 1.0);
    return evaluate();
  }

  LogRatio resample(RandomStream& random) {
    for (auto& weights : unit_weights_) {
      std::fill(weights.begin(), weights.end(), 0.0);
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[random.below(static_cast<std::uint32_t>(weights.size()))] += 1;
    }
    return evaluate();
  }

 private:
  LogRatio evaluate() {
    for (std::size_t s = 0; s < strata_.size(); ++s)
      for (std::size_t u = 0; u < strata_[s].size(); ++u) {
        if (strata_[s][u].first) first_weights_[*strata_[s][u].first] = unit_weights_[s][u];
        if (strata_[s][u].second) second_weights_[*strata_[s][u].second] = unit_weights_[s][u];
      }
    const RestrictedMean a = restricted_mean(first_.times, first_weights_, horizon_);
    const RestrictedMean b = restricted_mean(second_.times, second_weights_, horizon_);
    double variance = 0;
    for (std::size_t s = 0; s < strata_.size(); ++s) {
      const auto size = static_cast<double>(strata_[s].size());
      double squares = 0;
      for (std::size_t u = 0; u < strata_[s].size(); ++u) {
        const Unit& unit = strata_[s][u];
        const double moved = (unit.first ? a.influence[*unit.first] / a.mean : 0) -
                             (unit.second ? b.influence[*unit.second] / b.mean : 0);
        squares += unit_weights_[s][u] * moved * moved;
      }
      if (size > 1) variance += squares * size / (size - 1);
    }
    return {std::log(a.mean / b.mean), std::sqrt(variance)};
  }

  Group first_, second_;
  double horizon_;
  std::vector<std::vector<Unit>> strata_;
  std::vector<std::vector<double>> unit_weights_;
  std::vector<double> first_weights_, second_weights_;
};

}  // namespace

std::optional<MeanRatio> ratio_of_restricted_means(std::span<const SeededTime> first,
                                                   std::span<const SeededTime> second, double horizon,
                                                   const BootstrapOptions& options) {
  if (first.empty() || second.empty()) return {};
  Resampler resampler(sorted_group(first, horizon), sorted_group(second, horizon), horizon);
  const LogRatio observed = resampler.original();
  if (!std::isfinite(observed.value)) return {};
  MeanRatio result{.ratio = std::exp(observed.value)};
  if (first.size() < 2 || second.size() < 2 || observed.error == 0) return result;

  std::vector<double> values;
  for (std::size_t i = 0; i < options.resamples; ++i) {
    RandomStream random(options.seed, "speed-up bootstrap", i);
    const LogRatio drawn = resampler.resample(random);
    values.push_back(drawn.error > 0 ? (drawn.value - observed.value) / drawn.error : 0);
  }
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  };
  const double tail = (1 - options.level) / 2;
  result.interval = Interval{std::exp(observed.value - quantile(1 - tail) * observed.error),
                             std::exp(observed.value - quantile(tail) * observed.error)};
  return result;
}

}  // namespace eureka
