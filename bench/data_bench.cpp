// How fast images are made: 56 x 56 x 3 into the caller's batch, on one core. The real data sets take part
// when they are there.
#include <benchmark/benchmark.h>

#include "data/data_sets.h"
#include "data/glyph_drawings.h"
#include "tasks/task.h"

namespace eureka {
namespace {

constexpr std::int64_t kBatch = 128;

void sample_images(benchmark::State& state, const std::string& name, const OptionValues& options) {
  const auto task = Registry<Task>::instance().make(name, options);
  Batch batch;
  std::uint64_t step = 0;
  task->sample({.seed = 1, .stream = "train", .step = step++, .samples = kBatch}, batch);
  for (auto _ : state) task->sample({.seed = 1, .stream = "train", .step = step++, .samples = kBatch}, batch);
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void draw_glyph(benchmark::State& state) {
  RandomStream random(1, "bench");
  int label = 0;
  for (auto _ : state) benchmark::DoNotOptimize(draw_digit(label++ % 10, random));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(draw_glyph)->Unit(benchmark::kMicrosecond);

bool installed(const char* name) { return fs::exists(data_set_path(name)); }

void register_tasks() {
  const auto add = [](const std::string& title, const std::string& task, const OptionValues& options) {
    benchmark::RegisterBenchmark(("sample_images/" + title).c_str(), sample_images, task, options)
        ->Unit(benchmark::kMicrosecond);
  };
  for (const std::string& task : Registry<Task>::instance().names())
    if (Registry<Task>::instance().make(task)->shape().input() == InputKind::image) add(task, task, {});
  add("digit-pair/pooled-grey-centred", "digit-pair", {{"pool", std::int64_t{2}}, {"grey", true}, {"centre", true}});
  if (installed("mnist") && installed("fashion-mnist"))
    add("digit-pair/mnist", "digit-pair", {{"data", std::string("mnist")}});
}

}  // namespace
}  // namespace eureka

int main(int argc, char** argv) {
  eureka::register_tasks();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
