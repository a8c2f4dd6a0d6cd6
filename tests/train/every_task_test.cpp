// Every task that is registered, trained a few steps: stopped and resumed, stopped and sent back, it leaves the same
// bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "support/run_files.h"
#include "support/temporary_directory.h"
#include "train/run.h"

namespace eureka {
namespace {

class EveryTask : public testing::TestWithParam<std::string> {};

std::string model_for(const TaskShape& shape) {
  if (shape.input() == InputKind::image) return "vit";
  return shape.every_position && !shape.looks_ahead ? "decoder" : "transformer";
}

RunConfig short_config(const std::string& task) {
  static const Catalog catalog{declarations::files().front().text};
  const std::string model = model_for(Registry<Task>::instance().make(task)->shape());
  return resolve_config(
      read_toml(fmt::format("task.name = '{}'\n[model]\nname = '{}'\nwidth = 8\nheads = 2\ndepth = 1\n{}"
                            "[train]\nsteps = 7\nbatch = 3\neval_every = 2\nvalidation_samples = 5\n"
                            "[run]\nseed = 5\ncheckpoint_every = 2\nengine = 'fused'\n",
                            task, model, model == "vit" ? "patch = 28\n" : ""),
                "short"),
      catalog);
}

// Asks a run to stop once it has made so many steps.
class StopAfter : public RunObserver {
 public:
  StopAfter(std::atomic<bool>& stop, std::int64_t steps) : stop_(stop), steps_(steps) {}
  void on_step(std::int64_t updates_done) override { stop_ = updates_done >= steps_; }

 private:
  std::atomic<bool>& stop_;
  std::int64_t steps_;
};

TEST_P(EveryTask, LeavesTheSameBytesHoweverOftenItIsStopped) {
  const TemporaryDirectory scratch;
  const RunConfig config = short_config(GetParam());
  RunObserver nobody;
  std::atomic<bool> stop = false;
  ASSERT_EQ(run_training(config, {.directory = scratch.path() / "whole"}, nobody, stop).status, RunStatus::finished);
  const auto whole = repeatable_files(scratch.path() / "whole");

  const fs::path stopped = scratch.path() / "stopped";
  for (const std::int64_t steps : {1, 3, 6}) {
    stop = false;
    StopAfter observer(stop, steps);
    ASSERT_EQ(run_training(config, {.directory = stopped, .resume = steps > 1}, observer, stop).status,
              RunStatus::interrupted);
  }
  stop = false;
  run_training(config, {.directory = stopped, .resume = true}, nobody, stop);
  EXPECT_EQ(repeatable_files(stopped), whole);
  run_training(config, {.directory = stopped, .resume = true, .resume_step = 2}, nobody, stop);
  EXPECT_EQ(repeatable_files(stopped), whole) << "after going back to step 2";
}

std::vector<std::string> names() { return Registry<Task>::instance().names(); }

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, testing::ValuesIn(names()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace eureka
