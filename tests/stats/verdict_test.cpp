// Every sentence a comparison can end with, from trials that lead to it; docs/statistics.md lists them with their
// rules.
#include "stats/verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <set>

#include "base/files.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kHorizon = 1000, kNever = 2000;
const std::vector<double> kUsual = {520, 610, 700, 640, 810, 900, 560, 760, 730, 660};

// All at the same share of the usual times, but for a little noise: else there is no interval.
std::vector<double> times_around(double share, double noise) {
  std::vector<double> all;
  for (std::size_t i = 0; i < kUsual.size(); ++i)
    all.push_back(kUsual[i] * (share + (i % 3 == 0 ? noise : i % 3 == 1 ? -noise : 0)));
  return all;
}

std::vector<double> times(double factor) {
  std::vector<double> all;
  for (const double time : kUsual) all.push_back(time * factor);
  return all;
}

Arm arm_of(const std::string& name, const std::vector<double>& moments, std::int64_t first_seed = 1) {
  Arm arm{.name = name, .trials = {}};
  for (const double time : moments)
    arm.trials.push_back({.seed = first_seed++,
                          .moment = time <= kHorizon ? std::optional(time) : std::nullopt,
                          .last_step = kHorizon,
                          .steps_to_level = time <= kHorizon ? std::optional(time) : std::nullopt});
  return arm;
}

ArmReport compared(const std::vector<double>& baseline, const Arm& arm, AwaitedEvent awaited = AwaitedEvent::moment) {
  return compare_arms(arm_of("base", baseline), std::span(&arm, 1), kHorizon, {.awaited = awaited}).arms[0];
}

// The first of eight arms; the others are as the baseline.
ArmReport among_eight(const std::vector<double>& moments) {
  std::vector<Arm> arms(8, arm_of("same", kUsual));
  arms[0] = arm_of("arm", moments);
  return compare_arms(arm_of("base", kUsual), arms, kHorizon, {.resamples = 20000}).arms[0];
}

struct Sentence {
  VerdictKind kind;
  std::string text;
  ArmReport report;
};

std::vector<Sentence> all_sentences() {
  using enum VerdictKind;
  const std::vector<double> stuck(10, kNever), few = {500, 600, 700};
  Arm without_moment = arm_of("arm", stuck), grokked = arm_of("arm", stuck);
  for (TrialOutcome& trial : without_moment.trials) trial.steps_to_level = 200;
  for (TrialOutcome& trial : grokked.trials) trial.steps_to_level = 900, trial.grokked = true;
  Arm unseen = arm_of("arm", stuck);
  for (TrialOutcome& trial : unseen.trials) trial.last_step = 100;
  const StudyComparison alone = compare_arms(arm_of("base", kUsual), {}, kHorizon);
  const StudyComparison alone_stuck = compare_arms(arm_of("base", stuck), {}, kHorizon);
  const StudyComparison empty = compare_arms(arm_of("base", {}), {}, kHorizon);
  return {
      {baseline, "base is the baseline: 10 of 10 runs had their moment within 1000 steps, half of all by step 680.",
       alone.baseline},
      {baseline, "base is the baseline: none of 10 runs had its moment within 1000 steps.", alone_stuck.baseline},
      {no_trials, "base: no finished runs.", empty.baseline},
      {no_trials, "arm: no finished runs to compare.", compared(kUsual, arm_of("arm", {}))},
      {no_trials, "arm: no finished runs of base to compare.", compared({}, arm_of("arm", kUsual))},
      {sooner,
       "arm reaches the moment reliably sooner: in 0.50 of base's steps (speed-up 2.00, 95% interval * to *; p = "
       "*) and sooner in every one of 10 shared seeds. Moments: 10 of 10 runs against 10 of 10.",
       compared(kUsual, arm_of("arm",
                               [] {
                                 std::vector<double> all = times(0.5);
                                 all[0] += 1;  // else all ratios are one, and there is no interval
                                 return all;
                               }()))},
      {sooner,
       "arm reaches the moment reliably, base does not: 10 of 10 runs within 1000 steps against none of 10 (p = "
       "*) and sooner in every one of 10 shared seeds.",
       compared(stuck, arm_of("arm", kUsual))},
      {sooner,
       "arm reaches the target reliably, base does not: 10 of 10 runs within 1000 steps against none of 10 (p = "
       "*).",
       compared(stuck, arm_of("arm", kUsual, 100), AwaitedEvent::target)},
      {later,
       "arm reaches the moment reliably later: in 1.30 times base's steps (speed-up 0.77, 95% interval * to *; p "
       "= *), later in 8 of 10 shared seeds. Moments: 10 of 10 runs against 10 of 10.",
       compared(times(0.5), arm_of("arm", {300, 400, 450, 550, 500, 430, 520, 370, 480, 470}))},
      {never, "arm never reaches the moment within 1000 steps: none of 10 runs does, against 10 of 10 of base (p = *).",
       compared(kUsual, arm_of("arm", stuck))},
      {different,
       "arm differs from base (p = *), but which is sooner on the whole is not shown: the interval does not leave out "
       "1 "
       "(speed-up *, 95% interval * to *). Moments: 10 of 10 runs against 10 of 10.",
       compared({295, 296, 297, 298, 299, 300, 301, 302, 303, 304},
                arm_of("arm", {100, 101, 102, 380, 383, 385, 387, 390, 393, 396}, 100))},
      {alike,
       "arm: no evidence of a difference from base (p = *), and a large one is unlikely (speed-up 0.99, 95% "
       "interval 0.98 to 1.00). Moments: 10 of 10 runs against 10 of 10.",
       compared(kUsual, arm_of("arm", {520, 612, 700, 641, 812, 925, 560, 778, 733, 688}))},
      {alike,
       "arm: no difference from base at all: every seed has its moment at the same step. Moments: 10 of 10 runs "
       "against 10 of 10.",
       compared(kUsual, arm_of("arm", kUsual))},
      {inconclusive,
       "arm seems sooner, in * of base's steps (speed-up *, 95% interval * to *), but the log-rank test, corrected "
       "over the arms, "
       "does not bear it out (p = *): a hint, no evidence. Moments: 10 of 10 runs against 10 of 10.",
       among_eight(times_around(0.82, 0.15))},
      {inconclusive,
       "arm: no evidence of a difference from base (p = *), but with 10 runs against 10 anything from * to * times "
       "base's steps is possible (speed-up *, 95% interval * to *). Moments: 7 of 10 runs against 10 of 10.",
       compared(kUsual, arm_of("arm", {450, 980, 2000, 600, 2000, 300, 700, 520, 2000, 640}, 100))},
      {inconclusive,
       "arm cannot be told from base: there is no step at which runs of both still waited and some had "
       "their moment. Moments: none of 10 runs against 10 of 10.",
       compared(kUsual, unseen)},
      {gradual,
       "arm learns without a moment: 10 of 10 runs reach the target accuracy without one, so its "
       "waiting times do not compare with those of base; see the steps to the target accuracy.",
       compared(kUsual, without_moment)},
      {gradual,
       "arm learns without a moment: 10 of 10 runs reach the target accuracy without one (10 grokked: "
       "validation rose long after training was solved), so its waiting times do not compare with those of "
       "base; see the steps to the target accuracy.",
       compared(kUsual, grokked)},
      {too_few, "arm: too few seeds to tell (3 runs against 10). Moments: 3 of 3 runs against 10 of 10.",
       compared(kUsual, arm_of("arm", few))},
      {no_moments, "arm: none of 10 runs had its moment within 1000 steps, nor any of 10 of base: nothing to compare.",
       compared(stuck, arm_of("arm", stuck))},
      {not_reached,
       "arm: none of 10 runs reached the target within 1000 steps, nor any of 10 of base: nothing to compare.",
       compared(stuck, arm_of("arm", stuck), AwaitedEvent::target)},
  };
}

// '*' stands for a number.
bool fits(const std::string& text, const std::string& pattern) {
  std::string regex;
  for (const char letter : pattern)
    if (letter == '*')
      regex += "[0-9][-0-9.e]*";
    else if (std::isalnum(static_cast<unsigned char>(letter)) || letter == ' ')
      regex += letter;
    else
      regex += std::string("\\") + letter;
  return std::regex_match(text, std::regex(regex));
}

TEST(Verdict, SaysEverySentenceWhereItsRuleHolds) {
  std::set<VerdictKind> met;
  for (const Sentence& one : all_sentences()) {
    EXPECT_EQ(one.report.kind, one.kind) << one.report.verdict;
    EXPECT_TRUE(fits(one.report.verdict, one.text)) << one.report.verdict << "\n" << one.text;
    met.insert(one.kind);
  }
  EXPECT_EQ(met.size(), enum_names(VerdictKind::baseline).size()) << "a verdict without a case here";
}

TEST(Verdict, HasNoWordsThatCouldBeReadTwoWays) {
  for (const Sentence& one : all_sentences()) {
    EXPECT_THAT(one.report.verdict, Not(HasSubstr("times sooner")));
    EXPECT_THAT(one.report.verdict, Not(HasSubstr("times later")));
    EXPECT_THAT(one.report.verdict, Not(HasSubstr(" 0 of ")));
  }
}

TEST(Verdict, AHintNeedsAnIntervalClearOfOneAndATestThatWouldHaveDoneAlone) {
  const ArmReport hint = among_eight(times_around(0.82, 0.15));
  EXPECT_LT(hint.against_baseline->log_rank->p, 0.05);
  EXPECT_GT(*hint.against_baseline->log_rank_p_holm, 0.05);
  EXPECT_GT(hint.against_baseline->speedup->interval->low, 1.05);
  EXPECT_THAT(hint.verdict, HasSubstr("a hint"));

  const ArmReport weak = among_eight(times_around(0.85, 0.15));
  EXPECT_GT(weak.against_baseline->log_rank->p, 0.05);
  EXPECT_GT(weak.against_baseline->speedup->interval->low, 1.05);
  EXPECT_THAT(weak.verdict, HasSubstr("no evidence of a difference"));

  const ArmReport near = compared(kUsual, arm_of("arm", times_around(0.88, 0.15)));
  EXPECT_GT(near.against_baseline->speedup->interval->low, 1);
  EXPECT_LT(near.against_baseline->speedup->interval->low, 1.05);
  EXPECT_THAT(near.verdict, HasSubstr("to 1.00 times base's steps is possible")) << "the test leaves equality possible";
}

TEST(Verdict, EverySentenceIsInTheDocumentationWithItsRule) {
  const std::string page = read_file(fs::path(EUREKA_DOCS) / "statistics.md");
  for (const char* name : enum_names(VerdictKind::baseline))
    EXPECT_NE(page.find(fmt::format("| `{}` |", name)), std::string::npos) << name;
  for (const char* words :
       {"is the baseline:", "reliably sooner: in", "reliably, B does not", "reliably later: in", "never reaches",
        "which is sooner on the whole is not shown", "and a large one is unlikely", "no difference from B at all",
        "a hint, no evidence", "times B's steps is possible", "there is no step at which runs of both still waited",
        "learns without a moment", "too few seeds to tell", "nothing to compare", "no finished runs"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
}

}  // namespace
}  // namespace eureka
