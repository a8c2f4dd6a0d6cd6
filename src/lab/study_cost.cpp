#include "lab/study_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/machine_memory.h"
#include "base/median.h"
#include "base/terminal.h"
#include "train/run_data.h"
#include "train/wanted_keys.h"

namespace eureka {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Times {
  double best = 0, median = 0;
};

// Of something done a few times after a first that does not count; at least once.
template <class Work>
Times times_of(double seconds, Work work) {
  work();
  std::vector<double> times;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    work();
    times.push_back(seconds_since(begin));
  } while (seconds_since(start) < seconds);
  return {*std::min_element(times.begin(), times.end()), median(times)};
}

double rows_of(const RunConfig& config) {
  return std::ceil(static_cast<double>(config.train.steps) / static_cast<double>(config.train.eval_every)) + 1;
}

// Text and events of one number of one row, and of the numbers every row has.
constexpr double kBytesPerNumber = 110;
constexpr double kNumbersPerRow = 8;

// At most: many diagnostics have a number for the model, each layer and each head.
double numbers_of_look(const RunConfig& config) {
  const auto count = [&](const char* option) {
    const auto found = config.model.options.find(option);
    const auto* value = found != config.model.options.end() ? std::get_if<std::int64_t>(&found->second) : nullptr;
    return value != nullptr ? static_cast<double>(*value) : 1.0;
  };
  constexpr double kNumbersOfDiagnostic = 6;
  return kNumbersOfDiagnostic * static_cast<double>(config.diagnostics.size()) * count("depth") * (1 + count("heads"));
}

double bytes_of_trial(const RunConfig& config, const TrialCost& cost) {
  const double steps = static_cast<double>(config.train.steps);
  const auto every = static_cast<double>(config.run.checkpoint_every);
  const double written = every > 0 ? std::ceil(steps / every) : 1;
  const double kept =
      config.run.keep_checkpoints > 0 ? std::min(written, static_cast<double>(config.run.keep_checkpoints)) : written;
  const auto looks_every = static_cast<double>(std::max(config.diagnose.every, config.train.eval_every));
  // Weights and the two moments of Adam.
  constexpr double kTensors = 3, kOfDirectory = 20e3;
  const double checkpoints = config.run.keep == Keep::summary ? 0 : kept;
  return kOfDirectory + checkpoints * kTensors * cost.bytes_of_model +
         rows_of(config) * kNumbersPerRow * kBytesPerNumber +
         steps / looks_every * numbers_of_look(config) * kBytesPerNumber;
}

bool is_left(const Trial& trial) {
  return trial.damage.empty() && (trial.directory.empty() || !fs::exists(trial.directory / "summary.json"));
}

TrialCost mean_cost(const ArmCosts& costs) {
  TrialCost mean;
  for (const auto& [place, cost] : costs) {
    const auto share = 1 / static_cast<double>(costs.size());
    mean.step += share * cost.step, mean.step_median += share * cost.step_median;
    mean.validation += share * cost.validation, mean.validation_median += share * cost.validation_median;
    mean.bytes_of_model += share * cost.bytes_of_model;
  }
  return mean;
}

}  // namespace

TrialCost measure_cost(const RunConfig& config, const Task& task, Engine& engine, double seconds) {
  constexpr std::int64_t kMostSamples = 256;
  const WantedKeys wanted(config, task);
  Batch batch;
  std::int64_t step = 0;
  const Times steps = times_of(seconds, [&] {
    draw_training_batch(task, config, step, batch);
    wanted.fill(batch, step);
    engine.gradient(batch, step);
    engine.update({.step = step, .lr = config.train.lr});
    ++step;
  });
  const std::int64_t samples = std::min(config.train.validation_samples, kMostSamples);
  task.sample({.seed = 1, .stream = "validation", .step = 0, .samples = samples}, batch);
  wanted.fill(batch, step);
  const Times validation = times_of(seconds / 3, [&] { engine.evaluate(batch, step); });
  const double times = static_cast<double>(config.train.validation_samples) / static_cast<double>(samples);
  double numbers = 0;
  for (const ParameterSpec& parameter : engine.parameters()) {
    double size = 1;
    for (const std::int64_t extent : parameter.shape) size *= static_cast<double>(extent);
    numbers += size;
  }
  return {steps.best, steps.median, times * validation.best, times * validation.median, numbers * sizeof(float)};
}

void StudyCost::add(const StudyCost& other) {
  trials += other.trials;
  least_seconds += other.least_seconds;
  most_seconds += other.most_seconds;
  bytes += other.bytes;
  may_end_early = may_end_early || other.may_end_early;
}

StudyCost study_cost(const std::vector<Trial>& trials, const ArmCosts& costs, std::size_t at_a_time) {
  // A process of its own, and the trials at a time in each other's way.
  constexpr double kStart = 0.03, kSlower = 1.5;
  StudyCost sum;
  double longest_least = 0, longest_most = 0;
  if (costs.empty()) return sum;
  for (const Trial& trial : trials) {
    if (!is_left(trial)) continue;
    const auto found = costs.find({trial.point, trial.arm});
    const TrialCost cost = found != costs.end() ? found->second : mean_cost(costs);
    const std::int64_t begun = trial.origin ? trial.origin->step : 0;
    const auto steps = static_cast<double>(std::max<std::int64_t>(0, trial.config.train.steps - begun));
    const double rows = steps / static_cast<double>(trial.config.train.eval_every) + 1;
    const double least = kStart + steps * cost.step + rows * cost.validation;
    const double most = kSlower * (kStart + steps * cost.step_median + rows * cost.validation_median);
    ++sum.trials;
    sum.least_seconds += least, sum.most_seconds += most;
    longest_least = std::max(longest_least, least), longest_most = std::max(longest_most, most);
    sum.bytes += bytes_of_trial(trial.config, cost);
    sum.may_end_early = sum.may_end_early || trial.config.train.until == Until::moment;
  }
  const auto slots = static_cast<double>(std::clamp<std::size_t>(at_a_time, 1, std::max<std::size_t>(1, sum.trials)));
  sum.least_seconds = std::max(longest_least, sum.least_seconds / slots);
  sum.most_seconds = std::max(longest_most, sum.most_seconds / slots);
  return sum;
}

std::string cost_text(const StudyCost& cost, std::size_t at_a_time) {
  const std::string least = format_duration(cost.least_seconds), most = format_duration(cost.most_seconds);
  return fmt::format("{} trial{}, {} at a time: about {}{}; some {} on disk", cost.trials, cost.trials == 1 ? "" : "s",
                     std::min(at_a_time, cost.trials), least == most ? most : fmt::format("{} to {}", least, most),
                     cost.may_end_early ? ", less as far as they stop at their moment" : "", memory_text(cost.bytes));
}

}  // namespace eureka
