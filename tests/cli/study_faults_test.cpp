// Studies with something wrong in them: one damaged trial costs only itself, and what was disturbed ends as if it had
// not been.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "io/json.h"
#include "support/command.h"
#include "support/processes.h"
#include "support/run_files.h"

namespace eureka {
namespace {

using testing::HasSubstr;

constexpr const char* kArms =
    "[[arm]]\nname = \"softmax\"\n[[arm]]\nname = \"qk_norm\"\nset.attention.rule = \"qk_norm\"\n";

class StudyFaults : public testing::Test {
 protected:
  fs::path of(const std::string& name) const { return directory_.path() / name; }
  fs::path trial() const { return of("a") / "softmax" / "seed-2"; }

  // Two arms over two seeds in the directory `a`.
  std::vector<std::string> study(int steps = 60, const std::vector<std::string>& more = {}) const {
    std::ofstream(of("small.toml")) << "[study]\nbase = \"two-step\"\nseeds = 2\nset.run.checkpoint_every = 20\n"
                                       "set.train.eval_every = 10\nset.train.validation_samples = 50\n"
                                    << kArms;
    std::vector<std::string> words = {
        "study", of("small.toml").string(),           "--out", of("a").string(), "--progress", "none",
        "--set", fmt::format("train.steps={}", steps)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  CommandResult resume() const {
    return eureka_command({"study", "--out", of("a").string(), "--resume", "--json", "--progress", "none"});
  }
  CommandResult rescue(const fs::path& out, const std::vector<std::string>& more = {}) const {
    std::ofstream(of("rescue.toml")) << "[study]\nbase = \"two-step-hard\"\nseeds = 2\nbudget = 300\n"
                                        "set.run.checkpoint_every = 200\nset.train.validation_samples = 400\n"
                                        "[branch]\nat = 200\n"
                                     << kArms;
    std::vector<std::string> words = {"study", of("rescue.toml").string(), "--out", out.string(), "--progress", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }

  TemporaryDirectory directory_;
};

TEST_F(StudyFaults, ATrialSentBackToAnEarlierStepIsFinishedAndNotCountedHalf) {
  ASSERT_EQ(eureka_command(study(400)).exit_code, 0);
  const auto files = repeatable_files(of("a"));
  // On a busy machine it may have its summary again before we look: then once more.
  do {
    Command back({"train", "--out", trial().string(), "--resume", "--step", "20", "--quiet"});
    back.wait_until([&] { return !fs::exists(trial() / "summary.json"); });
    back.send(SIGKILL);
    back.wait();
  } while (fs::exists(trial() / "summary.json"));
  const CommandResult resumed = resume();
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(repeatable_files(of("a")), files);
}

TEST_F(StudyFaults, ADamagedTrialIsRunAgainOrNamedAndTheOthersCount) {
  ASSERT_EQ(eureka_command(study()).exit_code, 0);
  const auto files = repeatable_files(of("a"));
  fs::copy(trial(), of("intact"), fs::copy_options::recursive);
  const auto write = [&](const char* name, const std::string& text) { replace_file(trial() / name, text); };
  const std::string metrics = read_file(trial() / "metrics.jsonl");
  const std::string row = metrics.substr(0, metrics.find('\n') + 1);

  const std::vector<std::pair<std::string, std::function<void()>>> mended = {
      {"a summary with a status only", [&] { write("summary.json", "{\"status\":\"finished\"}"); }},
      {"a number for a status", [&] { write("summary.json", "{\"status\": 7}"); }},
      {"an empty summary", [&] { write("summary.json", ""); }},
      {"steps below zero",
       [&] {
         std::string text = read_file(trial() / "summary.json");
         write("summary.json", text.insert(text.find("\"steps\": ") + 9, "-"));
       }},
      {"a pipe for a summary",
       [&] {
         fs::remove(trial() / "summary.json");
         ASSERT_EQ(::mkfifo((trial() / "summary.json").c_str(), 0600), 0);
       }},
      {"no summary and no config", [&] {
         fs::remove(trial() / "summary.json");
         fs::remove(trial() / "config.toml");
       }}};
  for (const auto& [name, damage] : mended) {
    damage();
    const CommandResult resumed = resume();
    EXPECT_EQ(resumed.exit_code, 0) << name << ": " << resumed.err;
    fs::remove(trial() / "summary.json.damaged");
    EXPECT_EQ(repeatable_files(of("a")), files) << name;
  }

  const std::vector<std::pair<std::string, std::function<void()>>> named = {
      {"'val_accuracy' is missing", [&] { write("metrics.jsonl", "{\"step\":0,\"val_loss\":1.0}\n" + metrics); }},
      {"metrics.jsonl:2: not a row of metrics", [&] { write("metrics.jsonl", row + "{\n" + metrics); }},
      {"metrics.jsonl: cannot read", [&] { fs::remove(trial() / "metrics.jsonl"); }},
      {"config.toml:1:", [&] { write("config.toml", "[train\n"); }},
      {"unknown key 'train.stepz'", [&] { write("config.toml", "task.name = 'two-step'\ntrain.stepz = 5\n"); }}};
  for (const auto& [reason, damage] : named) {
    damage();
    const CommandResult resumed = resume();
    EXPECT_EQ(resumed.exit_code, 1) << reason << ": " << resumed.err;
    const Json found = Json::parse_if_valid(resumed.out).value_or(nullptr);
    ASSERT_TRUE(found.is_object()) << reason << ": " << resumed.err;
    ASSERT_EQ(found.at("damaged").size(), 1U) << reason;
    EXPECT_EQ(found.at("damaged")[0].at("directory"), "softmax/seed-2");
    EXPECT_THAT(found.at("damaged")[0].at("reason").get<std::string>(), HasSubstr(reason));
    EXPECT_EQ(found.at("arms")[0].at("n"), 1);
    EXPECT_EQ(found.at("arms")[1].at("n"), 2);
    fs::remove_all(trial());
    fs::copy(of("intact"), trial(), fs::copy_options::recursive);
  }
  EXPECT_EQ(resume().exit_code, 0);
  EXPECT_EQ(repeatable_files(of("a")), files) << "mended by hand, all count again";
}

TEST_F(StudyFaults, AMovedStudyThatBranchesContinuesAnUnfinishedBranch) {
  ASSERT_EQ(rescue(of("rescue")).exit_code, 0);
  const std::string found = read_file(of("rescue") / "study.json");
  fs::rename(of("rescue"), of("moved"));
  const fs::path branch = of("moved") / "qk_norm" / "seed-1";
  const std::string summary = read_file(branch / "summary.json");
  fs::remove(branch / "summary.json");
  const CommandResult resumed = eureka_command({"study", "--out", of("moved").string(), "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_file(branch / "summary.json"), summary);
  EXPECT_EQ(read_file(of("moved") / "study.json"), found);
}

TEST_F(StudyFaults, OneDamagedRunToContinueCostsOnlyItself) {
  ASSERT_EQ(rescue(of("rescue")).exit_code, 0);
  replace_file(of("rescue") / "parents" / "seed-1" / "config.toml", "[train\n");
  const CommandResult resumed = rescue(of("rescue"), {"--resume", "--json"});
  EXPECT_EQ(resumed.exit_code, 1);
  EXPECT_THAT(resumed.err, HasSubstr("seed-1: config.toml:1:"));
  const Json found = Json::parse_if_valid(resumed.out).value_or(nullptr);
  ASSERT_TRUE(found.is_object()) << resumed.err;
  EXPECT_EQ(found.at("arms")[0].at("n"), 1);
  EXPECT_EQ(found.at("arms")[1].at("n"), 1);

  // And so among runs that were there before.
  std::ofstream(of("again.toml")) << fmt::format("[branch]\nfrom = \"{}\"\nat = 200\n{}",
                                                 (of("rescue") / "parents").string(), kArms);
  const CommandResult again = eureka_command(
      {"study", of("again.toml").string(), "--out", of("again").string(), "--json", "--progress", "none"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("seed-1: "));
  EXPECT_EQ(Json::parse(again.out).at("arms")[0].at("n"), 1) << again.err;
}

TEST_F(StudyFaults, WhoseDirectoryIsRemovedEndsWithExitCode1AndASentence) {
  // More steps than it can do until then.
  Command run(study(1'000'000));
  ASSERT_TRUE(run.wait_until([&] { return fs::exists(of("a") / "softmax" / "seed-1" / "metrics.jsonl"); }));
  fs::rename(of("a"), of("gone"));
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("was removed while it was in use"));
}

TEST_F(StudyFaults, FilesThatMayNotGrowAreReportedForEveryTrial) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{8'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Command run(study());
  ::setrlimit(RLIMIT_FSIZE, &before);
  const CommandResult ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("seed-2: failed twice: "));
  EXPECT_THAT(ended.err, HasSubstr("File too large"));
  EXPECT_EQ(resume().exit_code, 0);
}

TEST_F(StudyFaults, AFullDiskIsReportedAndTheStudyGoesOnWhenThereIsRoom) {
  fs::create_directories(of("a"));
  // Room for the first checkpoints, but not for all.
  if (::mount("tmpfs", of("a").c_str(), "tmpfs", 0, "size=700k") != 0) GTEST_SKIP() << "mounting is not allowed";
  const CommandResult ended = eureka_command(study());
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("signal 6")));
  EXPECT_EQ(::mount("tmpfs", of("a").c_str(), "tmpfs", MS_REMOUNT, "size=100m"), 0);
  const CommandResult resumed = eureka_command(study(60, {"--resume", "--json"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json::parse_if_valid(resumed.out).value_or(nullptr).at("trials").size(), 4U);
  ::umount(of("a").c_str());
}

}  // namespace
}  // namespace eureka
