// What the parts of a run cost: drawing a batch, one training step per attention rule, one look of the detector.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "nn/reference_engine.h"
#include "stats/detector.h"
#include "tasks/task.h"

namespace eureka {
namespace {

constexpr std::int64_t kBatch = 128;

void sample_batch(benchmark::State& state) {
  const auto task = Registry<Task>::instance().make("two-step");
  Batch batch;
  std::uint64_t step = 0;
  for (auto _ : state) task->sample({.seed = 1, .stream = "train", .step = step++, .samples = kBatch}, batch);
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(sample_batch)->Unit(benchmark::kMicrosecond);

void train_step(benchmark::State& state, const std::string& rule) {
  const auto task = Registry<Task>::instance().make("two-step");
  EngineConfig config;
  config.shape = task->shape();
  config.rule = rule;
  config.label_smoothing = 0.1;
  config.total_steps = 1'000'000;
  ReferenceEngine engine(config);
  Batch batch;
  task->sample({.seed = 1, .stream = "train", .step = 0, .samples = kBatch}, batch);
  std::int64_t step = 0;
  for (auto _ : state) benchmark::DoNotOptimize(engine.train_step(batch, {step++, 1e-3}));
  state.SetItemsProcessed(state.iterations() * kBatch);
}

// Evaluations of a run of 2,500 steps, each followed by the question whether the moment has come.
void watch_a_run(benchmark::State& state) {
  RandomStream random(1, "bench");
  std::vector<double> accuracy;
  for (int i = 0; i < 100; ++i) accuracy.push_back((i < 5 ? 0.1 * i : i < 60 ? 0.55 : 0.98) + 0.01 * random.normal());
  for (auto _ : state) {
    DetectorOptions options;
    options.plateau_level = 0.55;
    MomentDetector detector(options);
    for (std::size_t i = 0; i < accuracy.size(); ++i) {
      detector.add(25.0 * static_cast<double>(i), accuracy[i]);
      benchmark::DoNotOptimize(detector.moments().size());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(accuracy.size()));
}
BENCHMARK(watch_a_run)->Unit(benchmark::kMillisecond);

const bool kRegistered = [] {
  for (const std::string& rule : Registry<AttentionRule>::instance().names())
    benchmark::RegisterBenchmark(("train_step/" + rule).c_str(), train_step, rule)->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace eureka
