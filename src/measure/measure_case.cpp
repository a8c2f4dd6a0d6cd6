#include "measure/measure_case.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>

#include "diagnostics/diagnostic_set.h"
#include "engine/choose_engine.h"
#include "io/json.h"
#include "kernels/gemm.h"
#include "measure/bench_processes.h"
#include "measure/step_profile.h"
#include "measure/step_times.h"
#include "train/config.h"
#include "train/option_lists.h"

namespace eureka {
namespace {

double process_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// One engine at work on a case.
class Worker {
 public:
  Worker(const EngineConfig& config, const Batch& batch, const Task* task = nullptr)
      : batch_(batch), task_(task), engine_(make_engine(EngineChoice::automatic, config).engine) {
    steps(2, warm_up_);
  }
  void steps(std::size_t count) { steps(count, times); }
  // How many steps take about this long.
  std::size_t steps_in(double ms) const { return static_cast<std::size_t>(std::clamp(ms / warm_up_.best(), 1.0, 1e4)); }
  // Looks before steps that are not counted, as a run in training does.
  void look(DiagnosticSet& diagnostics, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      engine_->gradient(batch_, step_);
      const auto start = std::chrono::steady_clock::now();
      diagnostics.look(*engine_, {.batch = batch_,
                                  .step = step_,
                                  .samples = kLookSamples,
                                  .task = task_,
                                  .gradient_pending = true,
                                  .last_update = LastUpdate{.step = step_ - 1, .lr = kLearningRate}});
      look_ms.push_back(milliseconds_since(start));
      engine_->update({.step = step_++, .lr = kLearningRate});
    }
  }
  std::string engine() const { return engine_->name(); }

  StepTimes times;
  std::vector<double> look_ms;

 private:
  static constexpr double kLearningRate = 1e-4;

  void steps(std::size_t count, StepTimes& to) {
    const double cpu_before = process_cpu_ms();
    for (std::size_t i = 0; i < count; ++i, ++step_) {
      const auto start = std::chrono::steady_clock::now();
      engine_->train_step(batch_, {.step = step_, .lr = kLearningRate});
      to.ms.push_back(milliseconds_since(start));
    }
    to.cpu_ms += process_cpu_ms() - cpu_before;
  }

  const Batch& batch_;
  const Task* task_;
  std::unique_ptr<Engine> engine_;
  std::int64_t step_ = 0;
  StepTimes warm_up_;
};

// The same case done in another way, alternating with it.
struct Beside {
  std::string what;
  Worker worker;
};

// One way of doing it in PyTorch, alternating too.
struct Rival {
  PyTorch pytorch;
  StepTimes times{};
};

std::vector<std::string> ways_of(const std::string& word) {
  if (word.empty()) return {};
  if (word == "both") return {"stock", "tuned"};
  if (word == "all") return {"stock", "tuned", "bfloat16", "jax"};
  return {word};
}

// Of all ways those that this Python has not are left out and named; one that was asked for is an error.
std::vector<std::unique_ptr<Rival>> make_rivals(const BenchCase& one, const BenchSettings& settings, Json& left_out) {
  std::vector<std::unique_ptr<Rival>> rivals;
  for (const std::string& way : ways_of(settings.against_pytorch)) {
    const PyTorchSettings how{.way = way, .python = settings.python, .as_tokens = settings.pytorch_tokens};
    std::unique_ptr<Rival> rival(new Rival{PyTorch(one, how)});
    if (const std::string& reason = rival->pytorch.cannot(); !reason.empty()) {
      if (way == settings.against_pytorch)
        throw Error(ErrorKind::usage, reason, {}, "--python PY names another Python (bench/README.md)");
      left_out.push_back({{"way", way}, {"reason", reason}});
      continue;
    }
    rivals.push_back(std::move(rival));
    // TorchScript looks at its first steps and compiles after them.
    StepTimes ignored;
    rivals.back()->pytorch.steps(4, ignored);
  }
  return rivals;
}

Json against(const Rival& rival, const StepTimes& ours) {
  const StepTimes& theirs = rival.times;
  return {{"way", rival.pytorch.way()},
          {"version", rival.pytorch.version()},
          {"best_ms", theirs.best()},
          {"median_ms", theirs.median()},
          {"cpu_ms", theirs.cpu()},
          {"ratio_best", theirs.best() / ours.best()},
          {"ratio_median", theirs.median() / ours.median()},
          {"ratio_cpu", theirs.cpu() / ours.cpu()},
          {"peak_mb", rival.pytorch.peak_mb()},
          {"disturbed", theirs.disturbed()}};
}

// The breakdown is of one thread: the others do the same.
Json breakdown(BenchCase one, const Batch& batch, double seconds) {
  one.config.threads = 1;
  Worker worker(one.config, batch);
  StepProfile profile;
  profile.sample([&] { worker.steps(worker.steps_in(seconds * 1e3)); });
  Json shares;
  for (const auto& [part, share] : profile.shares()) shares[part] = share;
  return shares;
}

double peak_mb_of_step(const BenchCase& one, const BenchSettings& settings) {
  return std::stod(output_of_self(
      {"bench", one.name, "--only-memory", "--threads", std::to_string(settings.threads), "--rule", settings.rule}));
}

// The time of training with a look at every kLookEvery-th step over that without.
Json cost_of_looking(const std::string& diagnostic, const Worker& worker) {
  StepTimes looks{.ms = worker.look_ms};
  return {{"what", diagnostic},
          {"samples", kLookSamples},
          {"every", kLookEvery},
          {"best_ms", looks.best()},
          {"median_ms", looks.median()},
          {"ratio_best", 1 + looks.best() / (kLookEvery * worker.times.best())},
          {"ratio_median", 1 + looks.median() / (kLookEvery * worker.times.median())}};
}

}  // namespace

void use_rule(EngineConfig& config, const std::string& rule) {
  if (config.rule == rule) return;
  config.rule = rule;
  config.rule_options.clear();
}

std::optional<std::string> why_not_here(const BenchCase& one) {
  try {
    const Batch batch = bench_batch(one);
    make_engine(EngineChoice::automatic, one.config).engine->train_step(batch, {.step = 0, .lr = 1e-4});
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "there is too little memory for it";
  }
}

Json measure_case(const BenchCase& one, const BenchSettings& settings) {
  const Batch batch = bench_batch(one);
  Worker ours(one.config, batch, one.task.get());
  std::vector<Beside> others;
  const auto add = [&](const std::string& what, const auto& change) {
    EngineConfig config = one.config;
    change(config);
    others.push_back({what, Worker(config, batch)});
  };
  if (settings.threads > 1) add("1 thread", [](EngineConfig& config) { config.threads = 1; });
  if (!settings.beside_rule.empty())
    add(settings.beside_rule, [&](EngineConfig& config) { use_rule(config, settings.beside_rule); });
  DiagnosticSet diagnostics;
  for (const std::string& name : split_names(settings.diagnose == "default" ? kDefaultDiagnostics : settings.diagnose))
    diagnostics.add(name, Registry<Diagnostic>::instance().make(name));
  Json left_out = Json::array();
  const std::vector<std::unique_ptr<Rival>> rivals = make_rivals(one, settings, left_out);
  double peak = 0;
  // Alternating, so that a busy neighbor slows all alike.
  constexpr int kRounds = 8;
  const std::size_t count = ours.steps_in(settings.seconds * 1e3 / kRounds);
  for (int round = 0; round < kRounds; ++round) {
    peak = std::max(peak, measured_peak_flops());
    ours.steps(count);
    if (!diagnostics.empty()) ours.look(diagnostics, std::clamp<std::size_t>(count / 10, 1, 20));
    for (Beside& other : others) other.worker.steps(count);
    for (const auto& rival : rivals) rival->pytorch.steps(std::max<std::size_t>(1, count / 3), rival->times);
  }
  const StepTimes& times = ours.times;
  const double rate = full_flops(one) / times.best() * 1e3;
  Json result{{"name", one.name},
              {"engine", ours.engine()},
              {"rule", one.config.rule},
              {"batch", one.batch},
              {"steps", times.ms.size()},
              {"best_ms", times.best()},
              {"median_ms", times.median()},
              {"cpu_ms", times.cpu()},
              {"samples_per_second", static_cast<double>(one.batch) / times.best() * 1e3},
              {"gflops", rate * 1e-9},
              {"peak_gflops", peak * 1e-9 * settings.threads},
              {"share_of_peak", rate / (peak * settings.threads)}};
  if (!diagnostics.empty()) result["diagnose"] = cost_of_looking(settings.diagnose, ours);
  for (const Beside& other : others) {
    const StepTimes& t = other.worker.times;
    result["beside"].push_back({{"what", other.what},
                                {"best_ms", t.best()},
                                {"median_ms", t.median()},
                                {"ratio_best", t.best() / times.best()},
                                {"ratio_median", t.median() / times.median()}});
  }
  // Several threads, or a device, have a processor time that says nothing of neighbors.
  if (settings.threads == 1 && one.config.device == "cpu") result["disturbed"] = times.disturbed();
  if (!rivals.empty()) {
    result["pytorch_input"] = one.plan().patch > 0 && !settings.pytorch_tokens ? "images" : "tokens";
    for (const auto& rival : rivals) result["pytorch"].push_back(against(*rival, times));
    result["pytorch_left_out"] = left_out;
  }
  if (settings.memory || !rivals.empty()) result["peak_mb"] = peak_mb_of_step(one, settings);
  if (settings.breakdown) result["breakdown"] = breakdown(one, batch, settings.seconds);
  return result;
}

double added_peak_memory_mb(const BenchCase& one) {
  const double before = peak_memory_mb();
  const Batch batch = bench_batch(one);
  Worker worker(one.config, batch);
  worker.steps(1);
  return peak_memory_mb() - before;
}

}  // namespace eureka
