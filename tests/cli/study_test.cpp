// Studies as a user runs them: killed, stopped, resumed, with trials that die or hang.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/random.h"
#include "io/json.h"
#include "support/command.h"
#include "support/processes.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class StudyVerb : public testing::Test {
 protected:
  // Two arms over three seeds; `steps` of about a millisecond each.
  std::vector<std::string> study(const std::string& name, int steps, const std::vector<std::string>& more = {}) const {
    const fs::path file = directory_.path() / "small.toml";
    if (!fs::exists(file))
      std::ofstream(file) << "[study]\nquestion = \"does it run?\"\nbase = \"two-step\"\nseeds = 3\n"
                             "set.run.checkpoint_every = 50\nset.train.validation_samples = 100\n"
                             "[[arm]]\nname = \"softmax\"\n"
                             "[[arm]]\nname = \"qk_norm\"\nset.attention.rule = \"qk_norm\"\n";
    std::vector<std::string> words = {
        "study", file.string(), "--out", out(name).string(), "--set", fmt::format("train.steps={}", steps)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  fs::path out(const std::string& name) const { return directory_.path() / name; }
  std::string result(const std::string& name) const { return read_file(out(name) / "study.json"); }

  static pid_t first_child(const Command& study) {
    while (!study.ended()) {
      const std::vector<pid_t> children = children_of(study.pid());
      // A trial has its own name once it has left the study's image behind.
      for (const pid_t child : children) {
        std::ifstream file(fmt::format("/proc/{}/cmdline", child));
        std::string words((std::istreambuf_iterator<char>(file)), {});
        if (words.find("--heartbeat") != std::string::npos) return child;
      }
      std::this_thread::sleep_for(10ms);
    }
    return -1;
  }

  TemporaryDirectory directory_;
};

TEST_F(StudyVerb, WritesWhatItFoundAndResumesOnlyWhatIsMissing) {
  const CommandResult first = eureka_command(study("a", 30, {"--json"}));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, result("a"));
  const Json found = Json::parse(first.out);
  EXPECT_EQ(found.at("baseline"), "softmax");
  ASSERT_EQ(found.at("arms").size(), 2U);
  for (const Json& arm : found.at("arms")) {
    EXPECT_EQ(arm.at("n"), 3);
    for (const char* key : {"name", "moments", "rate", "rate_ci", "median", "rmst", "rmst_ci", "logrank_p",
                            "hazard_ratio", "speedup", "speedup_ci", "final_accuracy", "verdict"})
      EXPECT_TRUE(arm.contains(key)) << key;
  }
  EXPECT_EQ(found.at("trials").size(), 6U);
  EXPECT_EQ(eureka_command(study("a", 30)).exit_code, 2) << "a study is not run over";

  fs::remove_all(out("a") / "softmax" / "seed-2");
  const auto untouched = fs::last_write_time(out("a") / "softmax" / "seed-1" / "summary.json");
  const CommandResult resumed = eureka_command({"study", "--out", out("a").string(), "--resume", "--json"});
  EXPECT_EQ(resumed.out, first.out) << resumed.err;
  EXPECT_EQ(fs::last_write_time(out("a") / "softmax" / "seed-1" / "summary.json"), untouched);

  const CommandResult changed = eureka_command(study("a", 40, {"--resume"}));
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("train.steps = 30, not 40"));
}

TEST_F(StudyVerb, TellsWhatHappensAsLinesOfJson) {
  const auto events = [](const std::string& text) {
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (const Json event = Json::parse(line); event.at("event") != "progress")
        names.push_back(event.at("event").get<std::string>());
    return names;
  };
  const CommandResult run = eureka_command(study("a", 20, {"--progress", "json", "--json", "--seeds", "1"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> told = events(run.err);
  EXPECT_EQ(told, events(read_file(out("a") / "events.jsonl")));
  ASSERT_EQ(told.size(), 8U);
  EXPECT_EQ(told.front(), "planned");
  EXPECT_EQ(std::count(told.begin(), told.end(), "trial-started"), 2);
  EXPECT_EQ(std::count(told.begin(), told.end(), "trial-ended"), 2);
  EXPECT_THAT(run.err, HasSubstr("\"status\":\"finished\""));
  EXPECT_EQ(told.back(), "study-finished");

  const CommandResult again =
      eureka_command({"study", "--out", out("a").string(), "--resume", "--json", "--progress", "none"});
  EXPECT_EQ(again.out, run.out);
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(events(read_file(out("a") / "events.jsonl")).size(), 8U + 5U) << "appended: none is started again";
}

TEST_F(StudyVerb, ComparesByATargetWhenItsFileSaysSo) {
  const fs::path file = directory_.path() / "target.toml";
  const auto write = [&](const std::string& target) {
    std::ofstream(file)
        << "[study]\nbase = \"two-step\"\nseeds = 2\nbudget = 50\nset.train.validation_samples = 100\n"
           "set.train.eval_every = 5\nevent = \"target\"\n"
        << target << "[[arm]]\nname = \"softmax\"\n[[arm]]\nname = \"qk_norm\"\nset.attention.rule = \"qk_norm\"\n";
  };
  write("target = 0.3\n");
  const CommandResult refused = eureka_command({"study", file.string(), "--out", out("t").string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no more than runs on the plateau reach"));

  write("target = 0.9\n");
  const CommandResult run = eureka_command({"study", file.string(), "--out", out("t").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string first = result("t");
  const Json found = Json::parse(first);
  EXPECT_EQ(found.at("event"), "target");
  EXPECT_EQ(found.at("points")[0].at("target_accuracy"), 0.9);
  EXPECT_EQ(found.at("arms")[0].at("reached_target"), 0) << "50 steps are too few";
  EXPECT_EQ(found.at("arms")[1].at("verdict_kind"), "not_reached");
  EXPECT_THAT(run.out, HasSubstr("none of 2 runs reached the target within 50 steps"));
  EXPECT_EQ(eureka_command({"study", "--out", out("t").string(), "--resume", "--json"}).out, first);
}

TEST_F(StudyVerb, PrintsTableVerdictsAndSurvivalPlot) {
  const CommandResult shown = eureka_command(study("a", 20));
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* part : {"does it run?", "log-rank p", "softmax is the baseline", "100% ┤", "study.json"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  const std::string arms = read_file(out("a") / "arms.csv"), trials = read_file(out("a") / "trials.csv");
  EXPECT_EQ(std::count(arms.begin(), arms.end(), '\n'), 3);
  EXPECT_EQ(std::count(trials.begin(), trials.end(), '\n'), 7);
  const std::string header = arms.substr(0, arms.find('\n'));
  EXPECT_THAT(header, HasSubstr("rate_ci_low,rate_ci_high"));
}

TEST_F(StudyVerb, AxesCompareEachArmWithTheBaselineAtTheSamePoint) {
  const fs::path file = directory_.path() / "axes.toml";
  std::ofstream(file) << "[study]\nbase = \"two-step\"\nseeds = 2\nbudget = 20\nset.train.validation_samples = 50\n"
                         "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\nset.attention.rule = \"linear\"\n"
                         "[axes]\ntask.distractors = [0, 1]\n";
  const CommandResult run = eureka_command({"study", file.string(), "--out", out("x").string(), "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json found = Json::parse(run.out);
  ASSERT_EQ(found.at("points").size(), 2U);
  EXPECT_EQ(found.at("points")[1].at("set").at("task.distractors"), 1);
  EXPECT_EQ(found.at("points")[1].at("budget"), 20);
  ASSERT_EQ(found.at("arms").size(), 4U);
  EXPECT_EQ(found.at("arms")[3].at("point"), "task.distractors=1");
  EXPECT_EQ(found.at("arms")[3].at("name"), "b");
  EXPECT_EQ(found.at("trials").size(), 8U);
  EXPECT_THAT(read_file(out("x") / "task.distractors=1" / "b" / "seed-2" / "config.toml"),
              HasSubstr("distractors = 1"));
}

TEST_F(StudyVerb, TheTargetIsTheBestArmsWhereTheBaselineStaysOnThePlateau) {
  const fs::path file = directory_.path() / "target.toml";
  std::ofstream(file) << "[study]\nbase = \"two-step\"\nseeds = 2\nbudget = 300\nset.train.validation_samples = 500\n"
                         "[[arm]]\nname = \"softmax\"\n[[arm]]\nname = \"mlp\"\nset.model.name = \"mlp\"\n";
  const CommandResult run = eureka_command({"study", file.string(), "--out", out("t").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json point = Json::parse(result("t")).at("points")[0];
  EXPECT_EQ(point.at("target_arm"), "mlp");
  EXPECT_GT(point.at("target_accuracy").get<double>(), 0.85);
  EXPECT_THAT(run.out, HasSubstr("mlp's (the baseline stays on the"));
}

TEST_F(StudyVerb, KilledTenTimesAtRandomEndsWithTheSameResult) {
  ASSERT_EQ(eureka_command(study("whole", 300)).exit_code, 0);
  RandomStream random(static_cast<std::uint64_t>(::getpid()), "kills");
  for (int kill = 0; kill < 10; ++kill) {
    Command run(study("torn", 300, {"--resume"}));
    std::this_thread::sleep_for(20ms + std::chrono::milliseconds(random.below(300)));
    run.send(SIGKILL);
    run.wait();
  }
  const CommandResult last = eureka_command(study("torn", 300, {"--resume"}));
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(result("torn"), result("whole"));
  for (const char* name : {"arms.csv", "trials.csv", "qk_norm/seed-3/metrics.jsonl"})
    EXPECT_EQ(read_file(out("torn") / name), read_file(out("whole") / name)) << name;
}

TEST_F(StudyVerb, AKilledTrialCostsOnlyItselfAndIsTriedOnceMore) {
  ASSERT_EQ(eureka_command(study("whole", 400)).exit_code, 0);
  Command run(study("a", 400, {"--jobs", "1"}));
  const pid_t child = first_child(run);
  ASSERT_GT(child, 0);
  ::kill(child, SIGKILL);
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("killed by signal 9; trying once more"));
  EXPECT_EQ(result("a"), result("whole"));
}

TEST_F(StudyVerb, AHungTrialIsNoticedAndTriedOnceMore) {
  ASSERT_EQ(eureka_command(study("whole", 400)).exit_code, 0);
  // Longer than a trial needs to its first step on a busy machine.
  const int seconds = 4 * EUREKA_PATIENCE;
  Command run(study("a", 400, {"--jobs", "1", "--timeout", fmt::format("{}", seconds)}));
  const pid_t child = first_child(run);
  ASSERT_GT(child, 0);
  ::kill(child, SIGSTOP);
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(fmt::format("hung: no step for {} seconds; trying once more", seconds)));
  EXPECT_EQ(result("a"), result("whole"));
}

TEST_F(StudyVerb, ATrialThatFailsTwiceIsReportedAndTheOthersCount) {
  fs::create_directories(out("a") / "softmax" / "seed-2" / "metrics.jsonl");
  const CommandResult ended = eureka_command(study("a", 20));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("seed-2: failed twice"));
  EXPECT_THAT(ended.err, HasSubstr("metrics.jsonl"));
  const Json found = Json::parse(result("a"));
  EXPECT_EQ(found.at("arms")[0].at("n"), 2);
  EXPECT_EQ(found.at("arms")[1].at("n"), 3);
  fs::remove(out("a") / "softmax" / "seed-2" / "metrics.jsonl");
  EXPECT_EQ(eureka_command(study("a", 20, {"--resume"})).exit_code, 0);
  EXPECT_EQ(Json::parse(result("a")).at("arms")[0].at("n"), 3);
}

TEST_F(StudyVerb, StopsOnASignalWithExitCode4AndContinues) {
  ASSERT_EQ(eureka_command(study("whole", 400)).exit_code, 0);
  for (const int signal_number : {SIGINT, SIGTERM}) {
    Command run(study("a", 400, {"--resume", "--jobs", "1"}));
    ASSERT_GT(first_child(run), 0);
    run.send(signal_number);
    const CommandResult stopped = run.wait();
    EXPECT_EQ(stopped.exit_code, 4) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("--resume"));
    EXPECT_FALSE(fs::exists(out("a") / "study.json"));
  }
  ASSERT_EQ(eureka_command({"study", "--out", out("a").string(), "--resume"}).exit_code, 0);
  EXPECT_EQ(result("a"), result("whole"));
}

TEST_F(StudyVerb, TwoStudiesOnOneDirectoryRefuseEachOther) {
  Command first(study("a", 5000));
  ASSERT_GT(first_child(first), 0);
  const CommandResult second = eureka_command(study("a", 5000, {"--resume"}));
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("in use by another eureka process"));
  first.send(SIGKILL);
  first.wait();
  // The lock of a dead process blocks nobody.
  Command third(study("a", 5000, {"--resume"}));
  EXPECT_GT(first_child(third), 0);
  third.send(SIGTERM);
  EXPECT_EQ(third.wait().exit_code, 4);
}

}  // namespace
}  // namespace eureka
