// Measures the coverage of every 95% interval and prints the tables of docs/statistics.md.
#include "stats/coverage.h"

namespace eureka {
namespace {

constexpr std::uint64_t kReplications = 10000;
constexpr std::uint64_t kBootstrapReplications = 2000;
constexpr std::size_t kResamples = 1000;

// Where a few runs never jump among many that jump together, as docs/statistics.md admits.
void expect_as_documented(const Coverage& coverage, const Setting& setting, std::size_t runs) {
  if (setting.has_hidden_failures)
    coverage.expect_within(runs < 20 ? 0.80 : 0.92, 0.97);
  else
    coverage.expect_within(0.93, 0.97);
}

void print_heading() { std::printf("| interval | setting | runs per arm | coverage |\n|---|---|---|---|\n"); }

TEST(CoverageMeasured, OfTheRate) {
  for (const int n : {5, 10, 20}) {
    const WilsonCoverage coverage = wilson_coverage_over_rates(n);
    std::printf("| rate, true rates 0.05 to 0.95 | mean %.1f%%, lowest %.1f%%, highest %.1f%% | %d |\n",
                100 * coverage.mean, 100 * coverage.lowest, 100 * coverage.highest, n);
    EXPECT_GT(coverage.mean, 0.93);
    EXPECT_LT(coverage.mean, 0.97);
  }
}

TEST(CoverageMeasured, OfCurveMedianAndRestrictedMean) {
  print_heading();
  for (const std::size_t n : {std::size_t{10}, std::size_t{20}})
    for (const Setting& setting : settings()) {
      const CurveCoverage coverage = measure_curve(setting, n, kReplications);
      coverage.mean.print();
      coverage.median.print();
      coverage.pointwise.print();
      coverage.pointwise.expect_within(0.93, 0.97);
      if (setting.arm.survival(1) < 0.5) coverage.median.expect_within(0.93, 0.97);
      expect_as_documented(coverage.mean, setting, n);
    }
}

class CoverageByRuns : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(CoverageMeasured, CoverageByRuns, ::testing::Values(10, 20));

TEST_P(CoverageByRuns, OfTheSpeedUpWithUnrelatedSeeds) {
  print_heading();
  for (const Setting& setting : settings()) {
    const Coverage coverage = measure_speedup(setting, 1, 0, GetParam(), kBootstrapReplications, kResamples);
    coverage.print();
    expect_as_documented(coverage, setting, GetParam());
  }
}

TEST_P(CoverageByRuns, OfTheSpeedUpWithRelatedSeeds) {
  print_heading();
  for (const Setting& setting : settings()) {
    const Coverage coverage = measure_speedup(setting, 2, 0.6, GetParam(), kBootstrapReplications, kResamples);
    coverage.print();
    expect_as_documented(coverage, setting, GetParam());
  }
}

TEST_P(CoverageByRuns, InSettingsTheMethodsWereNotChosenIn) {
  print_heading();
  for (const Setting& setting : held_out_settings()) {
    const CurveCoverage curve = measure_curve(setting, GetParam(), kReplications);
    for (const Coverage& coverage :
         {curve.mean, curve.median, curve.pointwise,
          measure_speedup(setting, 1, 0, GetParam(), kBootstrapReplications, kResamples),
          measure_speedup(setting, 2, 0.6, GetParam(), kBootstrapReplications, kResamples)}) {
      coverage.print();
      coverage.expect_within(0.93, 0.97);
    }
  }
}

TEST(CoverageMeasured, OfTheHazardRatioAndTheLogRankTest) {
  print_heading();
  for (const std::size_t n : {std::size_t{5}, std::size_t{10}, std::size_t{20}})
    for (const double ratio : {1.0, 2.0, 4.0})
      for (const double censored : {0.01, 0.2, 0.5}) {
        const HazardCoverage coverage = measure_hazard(ratio, censored, n, kReplications);
        coverage.interval.print();
        if (ratio == 1) coverage.log_rank.print();
        if (n < 10) continue;
        coverage.interval.expect_within(0.93, 0.97);
        if (ratio == 1) coverage.log_rank.expect_within(0.93, 0.97);
      }
}

TEST(CoverageMeasured, OfTheFinalAccuracy) {
  print_heading();
  for (const std::size_t n : {std::size_t{10}, std::size_t{20}})
    for (const double stuck : {0.0, 0.1, 0.3}) {
      const AccuracyCoverage coverage = measure_accuracy(stuck, n, kReplications);
      coverage.mean.print();
      coverage.median.print();
      coverage.median.expect_within(0.93, 0.97);
      if (stuck == 0) coverage.mean.expect_within(0.93, 0.97);
    }
}

// What a reader acts on: how often an arm no different from the baseline is called sooner or later.
TEST(CoverageMeasured, OfTheVerdict) {
  std::printf("| runs per arm | seeds | arms called different that are not |\n|---|---|---|\n");
  const SimulatedArm truth = settings()[1].arm;
  for (const std::size_t n : {std::size_t{5}, std::size_t{10}, std::size_t{20}})
    for (const double correlation : {0.0, 0.6}) {
      double wrong = 0;
      for (std::uint64_t i = 0; i < kBootstrapReplications; ++i) {
        const SimulatedPair pair = simulate_pair(truth, truth, n, correlation, i);
        const auto make_arm = [](const char* name, const std::vector<SeededTime>& runs) {
          Arm arm{.name = name};
          for (const auto& [seed, run] : runs)
            arm.trials.push_back(
                {.seed = seed, .moment = run.event ? std::optional(run.time) : std::nullopt, .last_step = run.time});
          return arm;
        };
        const Arm arm = make_arm("arm", pair.second);
        const VerdictKind kind = compare_arms(make_arm("baseline", pair.first), std::span(&arm, 1), 1,
                                              {.bootstrap_seed = i, .resamples = kResamples, .has_level = false})
                                     .arms[0]
                                     .kind;
        wrong += kind == VerdictKind::sooner || kind == VerdictKind::later || kind == VerdictKind::never ||
                 kind == VerdictKind::different;
      }
      const double share = wrong / static_cast<double>(kBootstrapReplications);
      std::printf("| %zu | %s | %.1f%% |\n", n, correlation == 0 ? "unrelated" : "related", 100 * share);
      EXPECT_LT(share, n < 10 ? 0.085 : 0.07);
    }
}

}  // namespace
}  // namespace eureka
