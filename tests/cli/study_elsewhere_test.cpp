// Studies whose trials run somewhere else: the list of tasks and what runs one of them; what is said where there is no
// Slurm, or one that refuses. Studies through a real Slurm are in tests/cluster.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/json.h"
#include "support/command.h"
#include "support/run_files.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

// The programs of a cluster are looked for in one directory alone.
class OnlyPath {
 public:
  explicit OnlyPath(const fs::path& path) : before_(std::getenv("PATH")) { ::setenv("PATH", path.c_str(), 1); }
  ~OnlyPath() { ::setenv("PATH", before_.c_str(), 1); }
  OnlyPath(const OnlyPath&) = delete;
  OnlyPath& operator=(const OnlyPath&) = delete;

 private:
  std::string before_;
};

class StudyElsewhere : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(of("small.toml")) << "[study]\nbase = \"two-step\"\nseeds = 3\nset.train.steps = 60\n"
                                       "set.train.eval_every = 10\nset.train.validation_samples = 50\n"
                                       "set.run.checkpoint_every = 20\n[[arm]]\nname = \"softmax\"\n";
  }
  fs::path of(const std::string& name) const { return directory_.path() / name; }
  CommandResult study(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"study", of("small.toml").string(), "--out", of(out).string()};
    words.insert(words.end(), more.begin(), more.end());
    return eureka_command(words);
  }
  CommandResult existing(const std::string& out, const std::string& option) const {
    return eureka_command({"study", "--out", of(out).string(), option, "--json"});
  }
  // A program of Slurm's that says something and ends with a code.
  void pretend(const std::string& name, const std::string& says, int code) const {
    make_directories(of("bin"));
    std::ofstream(of("bin") / name) << "#!/bin/sh\necho '" << says << "'\nexit " << code << "\n";
    fs::permissions(of("bin") / name, fs::perms::owner_all);
  }

  TemporaryDirectory directory_;
};

TEST_F(StudyElsewhere, PlannedAndRunTaskByTaskEndsOnTheBytesOfOneRunHere) {
  const CommandResult plan = study("tasks", {"--plan", "--trials-per-task", "2"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("2 tasks for 3 trials; 0 have ended"));
  std::ofstream(of("tasks.jsonl")) << plan.out;
  const auto task = [&](const std::string& index) {
    return eureka_command({"trial", of("tasks.jsonl").string(), index}).exit_code;
  };
  EXPECT_EQ(task("1"), 0);
  const CommandResult early = existing("tasks", "--collect");
  EXPECT_EQ(early.exit_code, 1) << early.out;
  EXPECT_THAT(early.err, HasSubstr("has not ended"));
  const Json status = Json::parse(existing("tasks", "--status").out);
  EXPECT_EQ(status.at("ended"), 1);
  EXPECT_EQ(status.at("waiting"), 2);
  EXPECT_THAT(study("tasks", {"--plan"}).err, HasSubstr("2 tasks for 2 trials; 1 have ended"));
  EXPECT_EQ(task("0"), 0);
  EXPECT_EQ(task("0"), 0) << "what has ended is left alone";
  EXPECT_EQ(existing("tasks", "--collect").exit_code, 0);
  EXPECT_EQ(study("here", {"--progress", "none"}).exit_code, 0);
  auto files = repeatable_files(of("tasks"));
  EXPECT_EQ(files.at("study.json"), read_file(of("here") / "study.json"));
  EXPECT_EQ(files, repeatable_files(of("here")));
}

TEST_F(StudyElsewhere, WithoutSlurmIsToldInASentenceAndLeavesNothing) {
  make_directories(of("bin"));
  const OnlyPath path(of("bin"));
  const CommandResult refused = study("a", {"--slurm"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err,
            "eureka: there is no sbatch on the path: this machine belongs to no Slurm cluster\n"
            "  run it here (without --slurm), or give the tasks to another scheduler: eureka study NAME --plan\n");
  EXPECT_FALSE(fs::exists(of("a")));
}

TEST_F(StudyElsewhere, WhatDoesNotGoTogetherIsRefused) {
  for (const auto& [words, said] : {std::pair{std::vector<std::string>{"--slurm", "--plan"}, "one at a time"},
                                    {{"--plan", "--collect"}, "one at a time"},
                                    {{"--slurm", "--jobs", "2"}, "--cpus"}}) {
    const CommandResult refused = study("a", words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(said));
  }
  EXPECT_FALSE(fs::exists(of("a")));
}

TEST_F(StudyElsewhere, WhatSbatchRefusesIsToldInItsWords) {
  pretend("sbatch", "sbatch: error: invalid partition specified: nowhere", 1);
  pretend("squeue", "", 0);
  pretend("scontrol", "MaxArraySize            = 3", 1);
  const OnlyPath path(of("bin").string() + ":/usr/bin:/bin");
  const CommandResult refused = study("a", {"--slurm", "--partition", "nowhere", "--trials-per-task", "1"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("sbatch ended with code 1: sbatch: error: invalid partition specified: nowhere"));
  EXPECT_THAT(read_file(of("a") / "slurm" / "trials-1-0.sh"), HasSubstr("#SBATCH --partition=nowhere\n"));
  EXPECT_THAT(read_file(of("a") / "slurm" / "trials-1-0.sh"), HasSubstr("#SBATCH --array=0-1\n"))
      << "of three tasks; scontrol tells of the largest array even where the controller does not answer";
  EXPECT_FALSE(fs::exists(of("a") / "study.json"));
}

}  // namespace
}  // namespace eureka
