// [intervene.positions]: two sets of tokens moved apart or together, and nothing else changed.
#include "train/position_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/embedded.h"
#include "support/temporary_directory.h"
#include "train/run.h"

namespace eureka {
namespace {

// Three tokens of the input behind the cls token's row.
StateTensor table() { return {"positions", {4, 2}, {9, 9, 1, 0, 5, 5, 0, 1}}; }

TEST(PositionDistance, IsSetWithTheMiddleAndTheDirectionKept) {
  StateTensor positions = table();
  set_position_distance({.first = "0", .second = "2", .distance = 2}, 1, positions);
  // The difference (1, -1) has root mean square 1: it is doubled around (0.5, 0.5).
  EXPECT_THAT(positions.values, testing::ElementsAre(9, 9, 1.5F, -0.5F, 5, 5, -0.5F, 1.5F));
  set_position_distance({.first = "0", .second = "2", .distance = 0}, 1, positions);
  EXPECT_THAT(positions.values, testing::ElementsAre(9, 9, 0.5F, 0.5F, 5, 5, 0.5F, 0.5F));
  EXPECT_THROW(set_position_distance({.first = "0", .second = "2", .distance = 1}, 1, positions), Error);
  EXPECT_THROW(set_position_distance({.first = "0", .second = "3", .distance = 1}, 1, positions), Error);
}

RunConfig config_with(const std::string& changes) {
  static const Catalog catalog{declarations::files().front().text};
  return resolve_config(read_toml(R"(
task.name = "two-step"
train = {steps = 20, batch = 24, eval_every = 10, validation_samples = 50}
run = {seed = 3, checkpoint_every = 5}
)" + changes,
                                  "short"),
                        catalog);
}

std::string refusal(const std::string& changes) {
  try {
    config_with(changes);
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST(PositionDistance, IsRefusedWhereItMeansNothing) {
  EXPECT_THAT(refusal("intervene.positions = {first = '0, 1', second = '2'}"),
              testing::HasSubstr("names another number of tokens"));
  EXPECT_THAT(refusal("intervene.positions = {first = '0', second = '2', at = 20}"),
              testing::HasSubstr("a run of 20 steps has no update 20"));
  EXPECT_THAT(refusal("intervene.positions = {first = '0', second = '2'}\nmodel.name = 'mlp'"),
              testing::HasSubstr("no attention to intervene in"));
  EXPECT_THAT(refusal("intervene.positions = {frist = '0'}"),
              testing::HasSubstr("did you mean 'intervene.positions.first'?"));
}

TEST(PositionDistance, HappensOnceAndIsTheSameAfterAResume) {
  const TemporaryDirectory scratch;
  const auto train = [](const RunConfig& config, const fs::path& out, std::int64_t until, bool resume) {
    struct Stopper final : RunObserver {
      std::atomic<bool> stop{false};
      std::int64_t at = 0;
      void on_step(std::int64_t done) override { stop = done >= at; }
    } stopper;
    stopper.at = until;
    run_training(config, {.directory = out, .resume = resume}, stopper, stopper.stop);
  };
  const RunConfig moved = config_with("intervene.positions = {first = '0', second = '3', distance = 0.5, at = 10}");
  const fs::path whole = scratch.path() / "whole", plain = scratch.path() / "plain";
  train(moved, whole, 1000, false);
  train(config_with(""), plain, 1000, false);
  const std::string file = "checkpoints/step-10/model.safetensors", last = "checkpoints/step-20/model.safetensors";
  EXPECT_EQ(read_file(whole / file), read_file(plain / file));
  EXPECT_NE(read_file(whole / last), read_file(plain / last));
  for (const std::int64_t step : {9, 10, 11}) {
    const fs::path torn = scratch.path() / std::to_string(step);
    train(moved, torn, step, false);
    train(moved, torn, 1000, true);
    for (const char* name : {"metrics.jsonl", "events.jsonl", "summary.json", last.c_str()})
      EXPECT_EQ(read_file(torn / name), read_file(whole / name)) << step << " " << name;
  }
}

}  // namespace
}  // namespace eureka
