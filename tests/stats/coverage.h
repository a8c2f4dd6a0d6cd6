// How often each 95% interval contains the truth, by simulation; `settings()` are the situations a study meets.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "stats/arm_comparison.h"
#include "stats/cox.h"
#include "stats/intervals.h"
#include "stats/kaplan_meier.h"
#include "stats/log_rank.h"
#include "stats/pointwise_intervals.h"
#include "stats/simulated_study.h"

namespace eureka {

struct Setting {
  std::string name;
  SimulatedArm arm;
  // Most runs jump sharply and a few never do: ten runs often show none of the few, and no interval can know of them.
  bool has_hidden_failures = false;
  std::uint64_t first_replication = 0;  // others give other random numbers
};

inline std::vector<Setting> settings() {
  SimulatedArm stopped = arm_with_censoring(0.1, 2, 0.2);
  stopped.stopped_early = 0.2;
  return {{"all jump", {.delay = 0.1, .shape = 2, .scale = 0.3}},
          {"20% censored", arm_with_censoring(0.1, 2, 0.2)},
          {"40% censored", arm_with_censoring(0.1, 2, 0.4)},
          {"70% censored", arm_with_censoring(0.1, 2, 0.7)},
          {"20% censored, 20% stopped early", stopped},
          {"15% never, others soon", {.delay = 0.1, .shape = 2, .scale = 0.3, .never = 0.15}, true},
          {"15% never, others at one time", {.delay = 0.4, .shape = 3, .scale = 0.1, .never = 0.15}, true}};
}

// Not looked at when the methods were chosen, and with random numbers of their own.
inline std::vector<Setting> held_out_settings() {
  SimulatedArm stopped = arm_with_censoring(0.3, 1.5, 0.1);
  stopped.stopped_early = 0.1;
  return {{"exponential, 30% censored", arm_with_censoring(0, 1, 0.3), false, 1000000},
          {"long delay, 10% censored, 10% stopped early", stopped, false, 1000000}};
}

class Coverage {
 public:
  Coverage(std::string interval, std::string setting, std::size_t runs)
      : interval_(std::move(interval)), setting_(std::move(setting)), runs_(runs) {}

  void count(bool contains) {
    hits_ += contains;
    ++tries_;
  }
  double share() const { return hits_ / tries_; }
  void print() const {
    std::printf("| %s | %s | %zu | %.1f%% |\n", interval_.c_str(), setting_.c_str(), runs_, 100 * share());
  }
  // Within the band, give or take three standard errors of the simulation.
  void expect_within(double low, double high) const {
    const double slack = 3 * std::sqrt(0.05 * 0.95 / tries_);
    EXPECT_GE(share(), low - slack) << interval_ << ", " << setting_ << ", n = " << runs_;
    EXPECT_LE(share(), high + slack) << interval_ << ", " << setting_ << ", n = " << runs_;
  }

 private:
  std::string interval_, setting_;
  std::size_t runs_;
  double hits_ = 0, tries_ = 0;
};

struct CurveCoverage {
  Coverage mean, median, pointwise;
};

// Pointwise: over the times at which 90%, 80%, ... 30% wait, as far as these come before the horizon.
inline CurveCoverage measure_curve(const Setting& setting, std::size_t n, std::uint64_t replications) {
  CurveCoverage result{
      {"restricted mean", setting.name, n}, {"median", setting.name, n}, {"Kaplan-Meier", setting.name, n}};
  const double mean = setting.arm.restricted_mean(), at_end = setting.arm.survival(1);
  for (std::uint64_t i = 0; i < replications; ++i) {
    const SurvivalCurve curve(simulate_pair(setting.arm, setting.arm, n, 0, setting.first_replication + i).first_times,
                              1);
    const auto interval = curve.restricted_mean_interval();
    result.mean.count(interval && interval->contains(mean));
    // a median beyond the horizon is covered by an interval that is open at the end
    result.median.count(curve.median_interval().contains(at_end < 0.5 ? setting.arm.quantile(0.5) : 2));
    for (int tenths = 9; tenths >= 3; --tenths) {
      const double share = 0.1 * tenths;
      if (share > at_end) result.pointwise.count(interval_at(curve, setting.arm.quantile(share)).contains(share));
    }
  }
  return result;
}

inline Coverage measure_speedup(const Setting& setting, double speed, double correlation, std::size_t n,
                                std::uint64_t replications, std::size_t resamples) {
  const SimulatedArm fast = setting.arm.faster(speed);
  const double truth = setting.arm.restricted_mean() / fast.restricted_mean();
  Coverage coverage(speed == 1 ? "speed-up (true: 1, seeds unrelated)" : "speed-up (arm twice as fast, seeds related)",
                    setting.name, n);
  for (std::uint64_t i = 0; i < replications; ++i) {
    const SimulatedPair pair = simulate_pair(setting.arm, fast, n, correlation, setting.first_replication + i);
    const auto ratio = ratio_of_restricted_means(pair.first, pair.second, 1, {.seed = i, .resamples = resamples});
    coverage.count(ratio && ratio->interval && ratio->interval->contains(truth));
  }
  return coverage;
}

struct HazardCoverage {
  Coverage interval;
  Coverage log_rank;  // does not reject at 5%
};

inline HazardCoverage measure_hazard(double ratio, double censored, std::size_t n, std::uint64_t replications) {
  char name[64];
  std::snprintf(name, sizeof name, "true ratio %g, %.0f%% censored", ratio, 100 * censored);
  HazardCoverage result{{"hazard ratio", name, n}, {"log-rank keeps a true null", name, n}};
  const SimulatedArm slow = arm_with_censoring(0, 2, censored), fast = slow.faster(std::sqrt(ratio));
  for (std::uint64_t i = 0; i < replications; ++i) {
    const SimulatedPair pair = simulate_pair(slow, fast, n, 0, i);
    const auto hazard = hazard_ratio(pair.first_times, pair.second_times);
    result.interval.count(!hazard || hazard->interval.contains(ratio));
    const auto test = log_rank(pair.first_times, pair.second_times);
    result.log_rank.count(!test || test->p >= 0.05);
  }
  return result;
}

// Exact: the sum of the binomial probabilities of the counts whose interval contains the rate.
inline double wilson_coverage(double rate, int n) {
  double covered = 0;
  for (int hits = 0; hits <= n; ++hits) {
    if (!wilson_interval(hits, n).contains(rate)) continue;
    covered += std::exp(std::lgamma(n + 1.0) - std::lgamma(hits + 1.0) - std::lgamma(n - hits + 1.0) +
                        hits * std::log(rate) + (n - hits) * std::log1p(-rate));
  }
  return covered;
}

struct WilsonCoverage {
  double mean = 0, lowest = 1, highest = 0;  // over true rates 0.05, 0.06, ... 0.95
};

inline WilsonCoverage wilson_coverage_over_rates(int n) {
  WilsonCoverage result;
  for (int percent = 5; percent <= 95; ++percent) {
    const double coverage = wilson_coverage(percent / 100.0, n);
    result.mean += coverage / 91;
    result.lowest = std::min(result.lowest, coverage);
    result.highest = std::max(result.highest, coverage);
  }
  return result;
}

struct AccuracyCoverage {
  Coverage mean, median;
};

// Accuracies of runs that learned are 0.97 to 0.99, the others stay on the plateau. Fewer than half are stuck.
inline AccuracyCoverage measure_accuracy(double stuck, std::size_t n, std::uint64_t replications) {
  char name[64];
  std::snprintf(name, sizeof name, "%.0f%% stuck on the plateau", 100 * stuck);
  AccuracyCoverage result{{"mean final accuracy", name, n}, {"median final accuracy", name, n}};
  const double mean = (1 - stuck) * 0.98 + stuck * 0.55, median = 0.97 + 0.02 * (0.5 - stuck) / (1 - stuck);
  for (std::uint64_t i = 0; i < replications; ++i) {
    RandomStream random(7, "accuracies", i);
    std::vector<TrialOutcome> trials;
    for (std::size_t k = 0; k < n; ++k) {
      const double level = random.chance(stuck) ? 0.54 : 0.97;
      trials.push_back({.last_step = 1, .final_accuracy = level + 0.02 * random.uniform()});
    }
    const AccuracySummary summary = *summarize_arm(trials, 1, {.has_level = false}).final_accuracy;
    result.mean.count(summary.mean_interval->contains(mean));
    result.median.count(summary.median_interval.contains(median));
  }
  return result;
}

}  // namespace eureka
