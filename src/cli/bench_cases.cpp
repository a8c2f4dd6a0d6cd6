#include "cli/bench_cases.h"

#include "base/random.h"
#include "cli/cli.h"
#include "engine/transformer_layout.h"
#include "lab/presets.h"
#include "train/config.h"

namespace eureka::cli {
namespace {

// Square images of 56 x 56 x 3 cut into patches; a patch is a token.
BenchCase image_case(const char* name, int patches, int patch_values, int width, int heads, int depth, int batch) {
  BenchCase one{name, batch, {}};
  one.config.shape = {.tokens = patches, .dimension = patch_values, .classes = 10};
  one.config.model_options = {{"width", std::int64_t{width}},
                              {"heads", std::int64_t{heads}},
                              {"depth", std::int64_t{depth}},
                              {"mlp_ratio", 2.0}};
  one.config.label_smoothing = 0.1;
  one.config.total_steps = 1000;
  return one;
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  std::vector<BenchCase> cases = {image_case("tiny", 16, 588, 32, 2, 4, 128), image_case("lab", 16, 588, 64, 4, 4, 128),
                                  image_case("mid", 64, 147, 128, 4, 4, 128),
                                  image_case("paper", 196, 48, 256, 4, 7, 32)};
  for (const PresetInfo& preset : list_presets()) {
    if (preset.is_study) continue;
    const ConfigSource source = find_config(preset.name);
    const RunConfig config = resolve_config(read_toml(source.text, source.file_name), catalog());
    if (config.model.name != "transformer") continue;
    const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
    cases.push_back({preset.name, config.train.batch, engine_config(config, task->shape())});
  }
  return cases;
}

double full_flops(const BenchCase& one) {
  TransformerOptions options;
  assign(options, one.config.model_options);
  const auto tokens = static_cast<double>(one.config.shape.tokens + 1);
  const auto width = static_cast<double>(options.width), hidden = static_cast<double>(options.mlp_width());
  const double embedding = static_cast<double>(one.config.shape.tokens * one.config.shape.dimension) * width;
  const double projections = tokens * width * (4 * width + 2 * hidden);
  const double attention = 2 * tokens * tokens * width;
  const double head = width * static_cast<double>(one.config.shape.classes);
  // The way back costs twice the way there; the embedding needs no gradient by its inputs.
  return 2 * static_cast<double>(one.batch) * (3 * (options.depth * (projections + attention) + head) + 2 * embedding);
}

Batch bench_batch(const BenchCase& one) {
  Batch batch;
  batch.resize(one.batch, one.config.shape, 0);
  RandomStream random(1, "bench data");
  random.fill_normal(batch.inputs);
  for (std::int64_t& label : batch.labels) label = random.below(static_cast<std::uint32_t>(one.config.shape.classes));
  return batch;
}

}  // namespace eureka::cli
