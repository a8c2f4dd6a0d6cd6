#include "measure/bench_cases.h"

#include "base/random.h"
#include "lab/presets.h"
#include "train/config.h"

namespace eureka {
namespace {

// Images of 56 x 56 x 3, cut into square patches by the model.
BenchCase image_case(const char* name, int patch, int width, int heads, int depth, int batch) {
  BenchCase one{name, batch, {}};
  one.config.model = "vit";
  one.config.shape = {.classes = 10, .image = {56, 56, 3}};
  one.config.model_options = {{"patch", std::int64_t{patch}},
                              {"width", std::int64_t{width}},
                              {"heads", std::int64_t{heads}},
                              {"depth", std::int64_t{depth}},
                              {"mlp_ratio", 2.0}};
  one.config.label_smoothing = 0.1;
  one.config.total_steps = 1000;
  return one;
}

}  // namespace

TransformerPlan BenchCase::plan() const {
  return plan_transformer(transformer_kind(config.model).value(), config.model_options, config.shape);
}

std::vector<BenchCase> bench_cases(const Catalog& catalog) {
  std::vector<BenchCase> cases = {image_case("tiny", 14, 32, 2, 4, 128), image_case("lab", 14, 64, 4, 4, 128),
                                  image_case("mid", 7, 128, 4, 4, 128), image_case("paper", 4, 256, 4, 7, 32)};
  for (const PresetInfo& preset : list_presets()) {
    if (preset.is_study) continue;
    const ConfigSource source = find_config(preset.name);
    const RunConfig config = resolve_config(read_toml(source.text, source.file_name), catalog);
    // Transformers only: the same work in PyTorch is written for those.
    if (!transformer_kind(config.model.name)) continue;
    const std::shared_ptr<const Task> task = Registry<Task>::instance().make(config.task.name, config.task.options);
    // Images may have to be fetched first.
    const bool drawn = task->shape().input() != InputKind::image;
    cases.push_back({preset.name, config.train.batch, engine_config(config, task->shape()), drawn ? task : nullptr});
  }
  return cases;
}

double full_flops(const BenchCase& one) {
  const TransformerPlan plan = one.plan();
  const auto tokens = static_cast<double>(plan.tokens()), width = static_cast<double>(plan.options.width);
  const auto hidden = static_cast<double>(plan.options.mlp_width());
  const double embedding = static_cast<double>(plan.given * plan.dimension) * width;
  const double projections = tokens * width * (4 * width + 2 * hidden);
  const double attention = 2 * tokens * tokens * width;
  const double answers = plan.has_cls() ? 1 : tokens;
  const double head = answers * width * static_cast<double>(plan.shape.classes);
  // Backward costs twice what forward does; the embedding needs no gradient by its inputs.
  return 2 * static_cast<double>(one.batch) *
         (3 * (plan.options.depth * (projections + attention) + head) + 2 * embedding);
}

Batch bench_batch(const BenchCase& one) {
  Batch batch;
  if (one.task != nullptr) {
    one.task->sample({.seed = 1, .samples = one.batch}, batch);
    return batch;
  }
  batch.resize(one.batch, one.config.shape, 0);
  RandomStream random(1, "bench data");
  random.fill_normal(batch.inputs);
  for (std::int64_t& label : batch.labels) label = random.below(static_cast<std::uint32_t>(one.config.shape.classes));
  return batch;
}

}  // namespace eureka
