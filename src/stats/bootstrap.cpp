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

// What is drawn as one: a run, or the two runs that share a seed. Same seed means same data and same initial weights,
// so their times go up and down together; drawing them apart would make the interval too wide, and if they were
// independent drawing them together would change nothing.
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

class Resampler {
 public:
  Resampler(Group first, Group second, double horizon)
      : first_(std::move(first)), second_(std::move(second)), horizon_(horizon), strata_(make_strata(first_, second_)) {
    first_weights_.assign(first_.times.size(), 1.0);
    second_weights_.assign(second_.times.size(), 1.0);
  }

  double ratio() const {
    return restricted_mean(first_.times, first_weights_, horizon_).mean /
           restricted_mean(second_.times, second_weights_, horizon_).mean;
  }

  void draw(RandomStream& random) {
    std::fill(first_weights_.begin(), first_weights_.end(), 0.0);
    std::fill(second_weights_.begin(), second_weights_.end(), 0.0);
    for (const std::vector<Unit>& stratum : strata_)
      for (std::size_t i = 0; i < stratum.size(); ++i) {
        const Unit& unit = stratum[random.below(static_cast<std::uint32_t>(stratum.size()))];
        if (unit.first) first_weights_[*unit.first] += 1;
        if (unit.second) second_weights_[*unit.second] += 1;
      }
  }

 private:
  Group first_, second_;
  double horizon_;
  std::vector<std::vector<Unit>> strata_;
  std::vector<double> first_weights_, second_weights_;
};

// Percentiles of a bootstrap are too narrow for few runs: they lack the factor n / (n - 1) and Student's wider tails.
// Hesterberg (2015) reads them further out by just that much.
double expanded_tail(double level, double runs) {
  return normal_cdf(-std::sqrt(runs / (runs - 1)) * student_t_quantile(0.5 + level / 2, runs - 1));
}

double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

std::optional<MeanRatio> ratio_of_restricted_means(std::span<const SeededTime> first,
                                                   std::span<const SeededTime> second, double horizon,
                                                   const BootstrapOptions& options) {
  EUREKA_CHECK(options.resamples > 0, "a bootstrap needs resamples");
  if (first.empty() || second.empty()) return {};
  Resampler resampler(sorted_group(first, horizon), sorted_group(second, horizon), horizon);
  MeanRatio result{.ratio = resampler.ratio()};
  if (!std::isfinite(result.ratio)) return {};
  const std::size_t fewest = std::min(first.size(), second.size());
  if (fewest < 2) return result;

  std::vector<double> ratios;
  for (std::size_t i = 0; i < options.resamples; ++i) {
    RandomStream random(options.seed, "speed-up bootstrap", i);
    resampler.draw(random);
    const double ratio = resampler.ratio();
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  if (ratios.empty() || ratios.front() == ratios.back()) return result;
  const double tail = expanded_tail(options.level, static_cast<double>(fewest));
  result.interval = Interval{percentile(ratios, tail), percentile(ratios, 1 - tail)};
  return result;
}

}  // namespace eureka
