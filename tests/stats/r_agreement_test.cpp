// Agreement with R's survival package on random data with ties and censoring. make test installs it; skipped without.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/random.h"
#include "stats/cox.h"
#include "stats/distributions.h"
#include "stats/kaplan_meier.h"
#include "stats/log_rank.h"
#include "stats/paired_tests.h"
#include "stats/pointwise_intervals.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

constexpr double kHorizon = 20;
constexpr int kDataSets = 25;

// Reads set,group,time,event and prints "name value" lines.
constexpr const char* kScript = R"R(
if (!requireNamespace("survival", quietly = TRUE)) quit(status = 3)
library(survival)
data <- read.csv(commandArgs(TRUE)[1])
say <- function(set, name, value) cat(sprintf("%d.%s %.15g\n", set, name, value), sep = "")
for (set in unique(data$set)) {
  d <- data[data$set == set, ]
  test <- survdiff(Surv(time, event) ~ group, d)
  say(set, "logrank", test$chisq)
  for (ties in c("efron", "breslow")) {
    fit <- coxph(Surv(time, event) ~ group, d, ties = ties, control = coxph.control(eps = 1e-12, iter.max = 50))
    say(set, paste0(ties, ".coef"), coef(fit))
    say(set, paste0(ties, ".se"), sqrt(vcov(fit)))
  }
  first <- d[d$group == 0, ]
  fit <- survfit(Surv(time, event) ~ 1, first, conf.type = "log-log")
  table <- summary(fit, rmean = 20)$table
  say(set, "median", quantile(fit, 0.5)$quantile)
  say(set, "rmean", table["rmean"])
  say(set, "rmean.se", table["se(rmean)"])
  at <- summary(fit, times = 6, extend = TRUE)
  say(set, "surv", at$surv)
  say(set, "surv.low", at$lower)
  say(set, "surv.high", at$upper)
  difference <- head(first$time, 10) * sqrt(2) - head(d$time[d$group == 1], 10) + 1:10 / 77  # no ties
  say(set, "wilcoxon", wilcox.test(difference, exact = TRUE)$p.value)
  say(set, "wilcoxon.normal", wilcox.test(rep(round(difference), 8), exact = FALSE)$p.value)
  say(set, "qt", qt(0.975, set))
}
)R";

struct TwoGroups {
  std::vector<SurvivalTime> first, second;
};

// Whole times, so that there are ties; some censored early, the rest at the horizon.
std::vector<SurvivalTime> random_group(std::size_t n, double slowness, RandomStream& random) {
  std::vector<SurvivalTime> group;
  for (std::size_t i = 0; i < n; ++i) {
    const double time = 1 + std::floor(slowness * -std::log(1 - random.uniform()));
    const double end = random.chance(0.3) ? 1 + random.below(19) : kHorizon;
    group.push_back({std::min(time, end), time <= end});
  }
  return group;
}

std::optional<std::map<std::string, double>> ask_r(const std::vector<TwoGroups>& sets) {
  if (std::system("command -v Rscript > /dev/null") != 0) return {};
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "script.R") << kScript;
  {
    std::ofstream csv(directory.path() / "data.csv");
    csv << "set,group,time,event\n";
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (const bool second : {false, true})
        for (const SurvivalTime& one : second ? sets[set].second : sets[set].first)
          csv << set + 1 << ',' << second << ',' << one.time << ',' << one.event << '\n';
  }
  const std::string command = "Rscript " + (directory.path() / "script.R").string() + " " +
                              (directory.path() / "data.csv").string() + " > " + (directory.path() / "out").string() +
                              " 2> " + (directory.path() / "err").string();
  const int status = std::system(command.c_str());
  if (WEXITSTATUS(status) == 3) return {};
  EXPECT_EQ(status, 0) << std::ifstream(directory.path() / "err").rdbuf();
  std::map<std::string, double> answers;
  std::ifstream out(directory.path() / "out");
  std::string name, value;
  while (out >> name >> value) answers[name] = std::strtod(value.c_str(), nullptr);
  return answers;
}

TEST(AgreementWithR, HoldsOnRandomDataWithTiesAndCensoring) {
  std::vector<TwoGroups> sets;
  for (int set = 0; set < kDataSets; ++set) {
    RandomStream random(5, "data sets for R", static_cast<std::uint64_t>(set));
    sets.push_back({random_group(10 + random.below(20), 9, random), random_group(10 + random.below(20), 5, random)});
  }
  // Level at exactly one half: to the horizon, to a later event, to where the runs were last seen.
  for (const std::vector<SurvivalTime>& rest :
       {std::vector<SurvivalTime>(5, {kHorizon, false}),
        std::vector<SurvivalTime>{{9, false}, {9, false}, {9, false}, {15, true}, {15, true}},
        std::vector<SurvivalTime>(5, {12, false})}) {
    std::vector<SurvivalTime> first = {{2, true}, {3, true}, {3, true}, {5, true}, {6, true}};
    first.insert(first.end(), rest.begin(), rest.end());
    sets.push_back({first, sets[sets.size() % 7].second});
  }
  const auto r = ask_r(sets);
  if (!r) GTEST_SKIP() << "R with its survival package is not here: apt-get install r-cran-survival";
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const auto& [first, second] = sets[set];
    const auto said = [&](const std::string& name) { return r->at(std::to_string(set + 1) + "." + name); };
    const auto near = [&](const std::string& name, double ours, double relative = 1e-6) {
      EXPECT_NEAR(ours, said(name), relative * std::max(1.0, std::abs(said(name)))) << name << " of set " << set + 1;
    };
    near("logrank", log_rank(first, second)->chi_square);
    for (const bool efron : {true, false}) {
      const auto cox = hazard_ratio(first, second, 0.95, efron ? Ties::efron : Ties::breslow);
      near(efron ? "efron.coef" : "breslow.coef", *cox->log_ratio);
      near(efron ? "efron.se" : "breslow.se", *cox->standard_error);
    }
    const SurvivalCurve curve(first, kHorizon);
    if (curve.median()) near("median", *curve.median());
    EXPECT_EQ(curve.median().has_value(), !std::isnan(said("median")));
    const std::vector<double> ones(first.size(), 1.0);
    near("rmean", *curve.restricted_mean());
    near("rmean.se", std::sqrt(restricted_mean(curve.times(), ones, kHorizon).variance));
    near("surv", curve.at(6));
    near("surv.low", log_log_at(curve, 6)->low);
    near("surv.high", log_log_at(curve, 6)->high);
    near("qt", student_t_quantile(0.975, static_cast<double>(set + 1)));
    std::vector<double> differences, rounded;
    for (std::size_t i = 0; i < 10; ++i)
      differences.push_back(first[i].time * std::sqrt(2.0) - second[i].time + (i + 1.0) / 77);
    for (int copy = 0; copy < 8; ++copy)
      for (const double difference : differences) rounded.push_back(std::nearbyint(difference));
    near("wilcoxon", signed_rank_test(differences).p);
    if (const SignedRank test = signed_rank_test(rounded); !test.exact) near("wilcoxon.normal", test.p);
  }
}

}  // namespace
}  // namespace eureka
