#include "lab/study_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lab/slurm_script.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Catalog& catalog() {
  static const Catalog known("[]");
  return known;
}

Study small_study() {
  return read_study(
      {"[study]\nbase = \"two-step\"\nseeds = 3\ntimeout = 77\nset.train.steps = 40\n"
       "slurm.partition = \"short\"\nslurm.cpus = 4\n"
       "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\nset.attention.rule = \"qk_norm\"\n",
       "small.toml", "small"});
}

class StudyTasks : public testing::Test {
 protected:
  fs::path list(const std::vector<StudyTask>& tasks) const {
    const fs::path file = directory_.path() / "tasks.jsonl";
    atomic_write(file, task_list(tasks));
    return file;
  }
  std::string complaint(const fs::path& file, std::size_t index) const {
    try {
      read_task(file, index, catalog());
      return "none";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.message();
    }
  }
  TemporaryDirectory directory_;
};

TEST_F(StudyTasks, ReadBackAsTheyWerePlanned) {
  const fs::path out = directory_.path() / "out";
  const std::vector<Trial> trials = plan_trials(small_study(), catalog(), out);
  const std::vector<StudyTask> tasks = pack_trials(small_study(), out, trials, 4);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].trials.size(), 4U);
  EXPECT_EQ(tasks[1].trials.size(), 2U);
  const fs::path file = list(tasks);
  for (std::size_t task = 0; task < 2; ++task) {
    const StudyTask read = read_task(file, task, catalog());
    EXPECT_EQ(read.timeout_seconds, 77);
    ASSERT_EQ(read.trials.size(), tasks[task].trials.size());
    for (std::size_t i = 0; i < read.trials.size(); ++i) {
      EXPECT_EQ(read.trials[i].directory, tasks[task].trials[i].directory);
      EXPECT_EQ(read.trials[i].seed, tasks[task].trials[i].seed);
      EXPECT_EQ(to_toml(read.trials[i].config), to_toml(tasks[task].trials[i].config));
    }
  }
}

TEST_F(StudyTasks, AreFoundWithoutReadingThoseBefore) {
  const std::vector<Trial> trials = plan_trials(small_study(), catalog(), directory_.path());
  const fs::path file = list(pack_trials(small_study(), directory_.path(), trials, 1));
  std::string text = read_file(file);
  // Read from its beginning, the file would now have another fourth line.
  text[text.size() / 6 + 10] = '\n';
  atomic_write(file, text);
  EXPECT_EQ(read_task(file, 3, catalog()).trials.at(0).directory, trials[3].directory);
}

TEST_F(StudyTasks, OfAListThatWasCutByHandAreItsLines) {
  const std::vector<Trial> trials = plan_trials(small_study(), catalog(), directory_.path());
  const fs::path file = list(pack_trials(small_study(), directory_.path(), trials, 1));
  std::istringstream lines(read_file(file));
  std::string text;
  std::string dropped;
  for (std::string line; std::getline(lines, dropped) && std::getline(lines, line);) text += line + "\n";
  atomic_write(file, text);
  for (const std::size_t i : {0U, 1U, 2U})
    EXPECT_EQ(read_task(file, i, catalog()).trials.at(0).directory, trials[2 * i + 1].directory);
  EXPECT_THAT(complaint(file, 3), HasSubstr("has 3 tasks, so there is no task 3"));
}

TEST_F(StudyTasks, KeepTheRunAndTheChangeOfABranch) {
  std::vector<Trial> trials = plan_trials(small_study(), catalog(), directory_.path());
  trials.resize(1);
  trials[0].origin = TrialOrigin{"/runs/parent", 200, {}};
  trials[0].origin->change["attention.rule"] = {std::string("norm_softmax"), "here"};
  trials[0].origin->change["train.lr"] = {0.1, "here"};
  const StudyTask read = read_task(list(pack_trials(small_study(), directory_.path(), trials, 1)), 0, catalog());
  ASSERT_TRUE(read.trials[0].origin);
  EXPECT_EQ(read.trials[0].origin->run, "/runs/parent");
  EXPECT_EQ(read.trials[0].origin->step, 200);
  EXPECT_EQ(std::get<std::string>(read.trials[0].origin->change.at("attention.rule").value), "norm_softmax");
  EXPECT_EQ(std::get<double>(read.trials[0].origin->change.at("train.lr").value), 0.1);
}

TEST_F(StudyTasks, WhatIsNoTaskIsSaidWithItsLine) {
  const std::vector<Trial> trials = plan_trials(small_study(), catalog(), directory_.path());
  const fs::path file = list(pack_trials(small_study(), directory_.path(), trials, 1));
  EXPECT_THAT(complaint(file, 6), HasSubstr("has 6 tasks, so there is no task 6"));
  EXPECT_THAT(complaint(directory_.path() / "none", 0), HasSubstr("--plan writes tasks"));
  for (const auto& [line, said] : std::vector<std::pair<std::string, std::string>>{
           {"{", "is no task"},
           {"{\"format\": 2}", "of format 2"},
           {R"({"format": 1, "study": "/s", "timeout": 1, "trials": [{"directory": "../x", "seed": 1, "config": ""}]})",
            "no place below the study"},
           {R"({"format": 1, "study": "/s", "timeout": 1, "trials": [{"directory": "/x", "seed": 1, "config": ""}]})",
            "no place below the study"}}) {
    std::ofstream(file) << line << '\n';
    EXPECT_THAT(complaint(file, 0), HasSubstr(said));
    EXPECT_THAT(complaint(file, 0), HasSubstr("tasks.jsonl:1"));
  }
}

TEST(SlurmStudy, KeepsWhatItAsksOfSlurm) {
  const Study study = small_study();
  EXPECT_EQ(study.slurm.partition, "short");
  const Study again = read_study({to_toml(study), "study.toml", "small"});
  EXPECT_EQ(again.slurm.partition, "short");
  EXPECT_EQ(again.slurm.cpus, 4);
  EXPECT_EQ(to_toml(again), to_toml(study));
}

TEST(SlurmScript, SplitsWhatIsLargerThanAnArray) {
  EXPECT_THAT(array_sizes(2500, 1000), ElementsAre(1000, 1000, 500));
  EXPECT_THAT(array_sizes(1000, 1000), ElementsAre(1000));
  EXPECT_THAT(array_sizes(0, 1000), ElementsAre());
}

TEST(SlurmScript, SaysWhatIsAskedOfSlurmAndNoMore) {
  SlurmArray array{.study = "it's 100% mine", .program = "/opt/e'u/eureka", .tasks = "/s/tasks-1.jsonl"};
  array.first = 1000;
  array.count = 500;
  array.trials_at_a_time = 2;
  array.logs = "/s/50% logs";
  const std::string plain = trials_script(array, {});
  EXPECT_THAT(plain, HasSubstr("#SBATCH --array=0-499\n"));
  EXPECT_THAT(plain, HasSubstr("$((SLURM_ARRAY_TASK_ID + 1000)) --jobs 2"));
  // Names of the user's are neither options nor code, and no patterns of Slurm's.
  EXPECT_THAT(plain, HasSubstr("#SBATCH --job-name=eureka-it_s_100__mine\n"));
  EXPECT_THAT(plain, HasSubstr("'/opt/e'\\''u/eureka' trial '/s/tasks-1.jsonl'"));
  EXPECT_THAT(plain, HasSubstr("--output=\"/s/50%% logs/%A_%a.log\"\n"));
  for (const char* unasked : {"--partition", "--account", "--time", "--mem"})
    EXPECT_THAT(plain, testing::Not(HasSubstr(unasked)));
  const std::string asked = trials_script(array, {.partition = "p",
                                                  .account = "a",
                                                  .time = "1:00",
                                                  .mem = "2G",
                                                  .cpus = 2,
                                                  .max_running = 7,
                                                  .sbatch = "--nice=5"});
  for (const char* said : {"--partition=p\n", "--account=a\n", "--time=1:00\n", "--mem=2G\n", "--cpus-per-task=2\n",
                           "--array=0-499%7\n", "#SBATCH --nice=5\n"})
    EXPECT_THAT(asked, HasSubstr(said));
}

}  // namespace
}  // namespace eureka
