#include "lab/trial_time.h"

#include <chrono>

#include "train/run.h"
#include "train/wanted_keys.h"

namespace eureka {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEnough = 0.5;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

double estimated_seconds(const RunConfig& config) {
  const RunParts parts = make_parts(config);
  Engine& engine = *parts.engine.engine;
  const WantedKeys wanted(config, *parts.task);
  Batch batch;
  // The first step also makes what all others use.
  const auto step = [&](std::int64_t number) {
    parts.task->sample(
        {.seed = 1, .stream = "train", .step = static_cast<std::uint64_t>(number), .samples = config.train.batch},
        batch);
    wanted.fill(batch, number);
    engine.gradient(batch, number);
    engine.update({.step = number, .lr = config.train.lr});
  };
  step(0);
  auto start = Clock::now();
  std::int64_t steps = 0;
  do step(++steps);
  while (seconds_since(start) < kEnough && steps < config.train.steps);
  const double of_steps = seconds_since(start) / static_cast<double>(steps) * static_cast<double>(config.train.steps);
  start = Clock::now();
  parts.task->sample({.seed = 1, .stream = "validation", .step = 0, .samples = config.train.validation_samples}, batch);
  wanted.fill(batch, 0);
  engine.evaluate(batch, 0);
  const double evaluations = static_cast<double>(config.train.steps / config.train.eval_every + 1);
  return of_steps + seconds_since(start) * evaluations;
}

}  // namespace eureka
