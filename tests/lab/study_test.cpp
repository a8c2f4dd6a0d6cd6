#include "lab/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eureka {
namespace {

using testing::HasSubstr;

const std::string kHead = "[study]\nbase = \"two-step\"\nseeds = 3\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

Study read(const std::string& text) { return read_study({text, "s.toml", "s"}); }

std::vector<std::string> point_names(const Study& study) {
  std::vector<std::string> names;
  for (const StudyPoint& point : study.points) names.push_back(point.name);
  return names;
}

void expect_refused(const std::string& text, const std::string& where, const std::string& what) {
  try {
    read(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_THAT(error.where(), HasSubstr(where)) << error.message();
    EXPECT_THAT(error.message(), HasSubstr(what));
  }
}

TEST(ReadStudy, RefusesNamesThatLeadElsewhereOrCannotBeShown) {
  for (const std::string name :
       {"..", "../a", "a/b", "a\\\\b", ".lock", "study.json", "study.toml", "arms.csv", "trials.csv", "events.jsonl",
        "report.html", "slurm", "parents", "a\\u007f", "a\\u001b[2J", "a\\r", "a\\u0000", "\\u202ea", "\\u009b"}) {
    const std::string value = " = \"" + name + "\"\n";
    expect_refused("[study]\nname" + value + kHead.substr(8), "s.toml:2:", "cannot name a study");
    expect_refused(kHead + "[[arm]]\nname" + value, "s.toml:9:", "cannot name an arm");
  }
  expect_refused(kHead + "[axes]\nrun.device = [\"a\\u007f\", \"b\"]\n", "s.toml:9:", "cannot name a directory");
  expect_refused(kHead + "[[arm]]\nname = \"" + std::string(300, 'a') + "\"\n", "s.toml:9:", "cannot name an arm");
  EXPECT_EQ(read("[study]\nname = \"my größe\"\n" + kHead.substr(8)).name, "my größe");
}

TEST(ReadStudy, ReadsWhatItWroteOfAnyQuestion) {
  const Study study = read("[study]\nquestion = \"a\\u007f\\u001b[2J\\u202e\\r?\"\n" + kHead.substr(8));
  EXPECT_EQ(read(to_toml(study)).question, "a\x7f\x1b[2J\u202e\r?");
}

TEST(ReadStudy, WithoutAxesHasOnePointWithoutAName) {
  const Study study = read(kHead);
  EXPECT_EQ(study.seeds, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(study.baseline, 0U);
  EXPECT_EQ(point_names(study), std::vector<std::string>{""});
}

TEST(ReadStudy, AxesMultiplyOut) {
  const Study study = read(kHead + "[axes]\ntrain.lr = [0.001, 0.003]\ntask.distractors = [0, 4]\n");
  EXPECT_EQ(point_names(study),
            (std::vector<std::string>{"task.distractors=0,train.lr=0.001", "task.distractors=0,train.lr=0.003",
                                      "task.distractors=4,train.lr=0.001", "task.distractors=4,train.lr=0.003"}));
}

TEST(ReadStudy, ARangeIsSpacedEvenlyOrByEqualRatios) {
  const Study even = read(kHead + "[axes]\ntask.noise = { from = 0.1, to = 0.4, points = 4 }\n");
  EXPECT_EQ(point_names(even),
            (std::vector<std::string>{"task.noise=0.1", "task.noise=0.2", "task.noise=0.3", "task.noise=0.4"}));
  const Study ratios = read(kHead + "[axes]\ntrain.lr = { from = 1e-3, to = 8e-3, points = 4, spacing = \"log\" }\n");
  EXPECT_EQ(point_names(ratios),
            (std::vector<std::string>{"train.lr=0.001", "train.lr=0.002", "train.lr=0.004", "train.lr=0.008"}));
}

TEST(ReadStudy, ListedPointsMoveSeveralOptionsTogether) {
  const Study study = read(kHead +
                           "[[axes.list]]\ntrain.lr = 0.003\ntrain.steps = 2500\n"
                           "[[axes.list]]\ntrain.lr = 0.0015\ntrain.steps = 5000\n");
  EXPECT_EQ(point_names(study),
            (std::vector<std::string>{"train.lr=0.003,train.steps=2500", "train.lr=0.0015,train.steps=5000"}));
}

TEST(ReadStudy, WrittenOutReadsBackTheSame) {
  const Study study = read(
      "[study]\nquestion = \"is it \\\"so\\\"?\"\nbase = \"two-step\"\nseeds = [4, 2]\nbaseline = \"b\"\nbudget = 700\n"
      "timeout = 2.5\nset.train.batch = 64\n[[arm]]\nname = \"a\"\nset.attention.scale = { kind = \"learned\" }\n"
      "[[arm]]\nname = \"b\"\n[axes]\ntrain.lr = [0.001, 3]\n");
  const std::string text = to_toml(study);
  const Study again = read_study({text, "study.toml", "other"});
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(again.name, "s");
  EXPECT_EQ(again.question, "is it \"so\"?");
  EXPECT_EQ(again.baseline, 1U);
  EXPECT_EQ(again.budget, 700);
  EXPECT_EQ(again.seeds, (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(point_names(again), point_names(study));
}

TEST(ReadStudy, ComparesByTheMomentUnlessItSaysOtherwise) {
  const std::string arm = "[[arm]]\nname = \"a\"\n", head = "[study]\nbase = \"x\"\nseeds = 2\n";
  EXPECT_EQ(read(head + arm).event, AwaitedEvent::moment);
  EXPECT_THAT(to_toml(read(head + arm)), testing::Not(HasSubstr("target")));
  for (const std::string target : {"target = 0.9\n", "relative_target = 0.8\n"}) {
    const Study study = read(head + "event = \"target\"\n" + target + arm);
    EXPECT_EQ(study.event, AwaitedEvent::target);
    EXPECT_EQ(study.target.value_or(0), target.starts_with("target") ? 0.9 : 0);
    const Study again = read(to_toml(study));
    EXPECT_EQ(again.event, AwaitedEvent::target);
    EXPECT_EQ(again.target, study.target);
    EXPECT_EQ(again.relative_target, study.relative_target);
  }
  expect_refused(head + "target = 0.9\nrelative_target = 0.8\n" + arm, "s.toml:5:", "exclude each other");
  expect_refused(head + "event = \"eureka\"\n" + arm, "s.toml:4:", "moment");
}

TEST(ReadStudy, RefusesMoreSeedsThanAStudyHas) {
  const std::string arm = "[[arm]]\nname = \"a\"\n";
  EXPECT_EQ(read("[study]\nbase = \"x\"\nseeds = 100000\n" + arm).seeds.size(), 100'000U);
  expect_refused("[study]\nbase = \"x\"\nseeds = 1000000000\n" + arm,
                 "s.toml:3:", "'study.seeds' is 1000000000, but a study has at most 100000 seeds");
}

TEST(ReadStudy, SaysWhereAMistakeIs) {
  expect_refused(kHead + "[axes]\ntrain.lr = []\n", "s.toml", "no values");
  expect_refused(kHead + "[axes]\ntrain.lr = 0.001\n", "s.toml:9:", "one value only");
  expect_refused(kHead + "[axes]\ntrain.lr = { from = 1, to = 2 }\n", "s.toml:9:", "needs from, to and points");
  expect_refused(kHead + "[axes]\ntrain.lr = { from = 0, to = 2, points = 3, spacing = \"log\" }\n",
                 "s.toml:9:", "above 0");
  expect_refused(kHead + "[axes]\ntrain.lr = [1, 1]\n", "s.toml:9:", "there twice");
  expect_refused(kHead + "[axes]\ntask.name = [\"a/b\"]\n", "s.toml:9:", "cannot name a directory");
  expect_refused("[study]\nbase = \"x\"\nseeds = 2\nbaseline = \"c\"\n[[arm]]\nname = \"a\"\n",
                 "s.toml:4:", "no arm of this study");
  expect_refused("[study]\nbase = \"x\"\nseeds = 2\nsedes = 2\n[[arm]]\nname = \"a\"\n",
                 "s.toml:4:", "did you mean 'seeds'?");
  expect_refused("[study]\nbase = \"x\"\nseeds = [1, 1]\n[[arm]]\nname = \"a\"\n", "s.toml:3:", "different ones");
  expect_refused("[study]\nbase = \"x\"\nseeds = 1\n[[arm]]\nnam = \"a\"\n", "s.toml:5:", "did you mean 'name'?");
  expect_refused("[study]\nbase = \"x\"\nseeds = 1\n[[arm]]\nname = \"a\"\nset.train.lr = [1, 2]\n", "s.toml",
                 "one value goes here");
  expect_refused("[study]\nbase = \"x\"\nseeds = \n", "s.toml:3:", "not valid TOML");
}

TEST(ReadStudy, OfBranchesKnowsWhatExcludesWhat) {
  const std::string arms = "[[arm]]\nname = \"a\"\n";
  const Study own = read("[study]\nbase = \"x\"\nseeds = 2\n[branch]\nat = 500\n" + arms);
  EXPECT_EQ(own.branch->at, 500);
  EXPECT_EQ(own.branch->only, BranchOnly::stuck);
  EXPECT_TRUE(read("[branch]\nfrom = \"d\"\nat = 500\nonly = \"waiting\"\n" + arms).seeds.empty());
  expect_refused("[study]\nbase = \"x\"\n[branch]\nfrom = \"d\"\nat = 5\n" + arms, "s.toml:2:", "exclude each other");
  expect_refused("[branch]\nfrom = \"d\"\n" + arms, "s.toml", "'branch.at' is missing");
  expect_refused("[branch]\nfrom = \"d\"\nat = 5\nonly = \"lucky\"\n" + arms, "s.toml:4:", "stuck");
  expect_refused("[branch]\nfrom = \"d\"\nat = 5\n[axes]\ntrain.lr = [1, 2]\n" + arms, "s.toml", "takes no axes");
}

TEST(ReadStudy, MoreThanCanBeComparedIsRefusedAtOnce) {
  const std::string base = "[study]\nbase = \"two-step\"\n";
  const std::string arms = "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";
  expect_refused(base + "seeds = 1000000000\n" + arms, "s.toml:3", "a study has at most 100000 seeds");
  std::string many = base + "seeds = 1\n";
  for (std::size_t i = 0; i <= kMostArms; ++i) many += "[[arm]]\nname = \"a" + std::to_string(i) + "\"\n";
  expect_refused(many, "s.toml", "the study has 1001 arms, but at most 1000 can be compared");
  EXPECT_NO_THROW(refuse_too_many_trials(read(base + "seeds = 50000\n" + arms)));
  EXPECT_THROW(refuse_too_many_trials(read(base + "seeds = 50001\n" + arms)), Error);
}

}  // namespace
}  // namespace eureka
