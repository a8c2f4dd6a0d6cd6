// Configs and batches on which the fused engine is compared with the reference engine.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "support/rule_variants.h"

namespace eureka {

inline EngineConfig base_config() {
  EngineConfig config;
  config.shape = {.tokens = 4, .dimension = 16, .classes = 10};
  config.model_options = {{"width", std::int64_t{32}}, {"depth", std::int64_t{2}}, {"heads", std::int64_t{2}},
                          {"init.weights", 0.2},       {"init.positions", 0.5},    {"init.cls", 1.0}};
  config.label_smoothing = 0.1;
  config.total_steps = 100;
  config.seed = 3;
  return config;
}

inline EngineConfig decoder_config() {
  EngineConfig config = base_config();
  config.model = "decoder";
  config.shape = {.tokens = 9, .classes = 11, .vocabulary = 13, .every_position = true};
  return config;
}

// A bidirectional encoder without a cls token, as for hidden words.
inline EngineConfig everywhere_config() {
  EngineConfig config = decoder_config();
  config.model = "transformer";
  config.shape.looks_ahead = true;
  return config;
}

// Transformers of every kind of block: what is beside attention, and how places are told.
inline std::vector<EngineConfig> block_variants() {
  std::vector<EngineConfig> all;
  for (EngineConfig config : {base_config(), decoder_config(), everywhere_config()})
    for (const char* norm : {"layer", "rms", "none"})
      for (const char* positions : {"learned", "rotary"})
        for (const double mlp_ratio : {0.0, 1.5}) {
          config.model_options["norm"] = std::string(norm);
          config.model_options["positions"] = std::string(positions);
          config.model_options["mlp_ratio"] = mlp_ratio;
          config.model_options["activation"] = std::string(all.size() % 3 == 0 ? "gelu" : "relu");
          const bool tied = config.shape.vocabulary > 0 && all.size() % 2 == 0;
          config.model_options["tied_head"] = tied;
          if (tied) config.shape.classes = config.shape.vocabulary;
          all.push_back(config);
        }
  return all;
}

inline EngineConfig vit_config() {
  EngineConfig config = base_config();
  config.model = "vit";
  config.shape = {.classes = 10, .image = {12, 8, 3}};
  config.model_options["patch"] = std::int64_t{4};
  return config;
}

inline EngineConfig mlp_config() {
  EngineConfig config = base_config();
  config.model = "mlp";
  config.model_options = {{"hidden", std::int64_t{40}}, {"layers", std::int64_t{2}}};
  return config;
}

inline EngineConfig resnet_config(const std::string& model = "resnet9") {
  EngineConfig config = base_config();
  config.model = model;
  config.shape = {.classes = 10, .image = {12, 9, 3}};
  config.model_options = {{"width", std::int64_t{6}}};
  return config;
}

struct BatchOptions {
  bool masked = false;     // some tokens are hidden
  double asked_share = 1;  // of labels that count; the first always does
  std::uint64_t step = 0;
};

inline Batch random_batch(const TaskShape& shape, std::int64_t samples, const BatchOptions& options = {}) {
  Batch batch;
  batch.resize(samples, shape, 0);
  RandomStream random(7, "fused test data", options.step);
  random.fill_normal(batch.inputs);
  random.fill_normal(batch.targets);
  for (std::int32_t& id : batch.ids)
    id = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(shape.vocabulary)));
  const auto answers = static_cast<std::size_t>(samples * shape.labels());
  if (options.asked_share < 1) batch.asked.assign(answers, 1);
  for (std::size_t i = 0; i < answers; ++i) {
    const std::int64_t label = random.below(static_cast<std::uint32_t>(shape.classes));
    if (!batch.labels.empty()) batch.labels[i] = label;
    if (i > 0 && random.uniform_float() >= options.asked_share) batch.asked[i] = 0;
  }
  if (options.masked) {
    batch.visible.resize(static_cast<std::size_t>(samples * shape.tokens));
    for (std::uint8_t& visible : batch.visible) visible = random.uniform_float() < 0.7F ? 1 : 0;
  }
  return batch;
}

// The same questions; nonsense where nothing is asked.
inline Batch with_other_unasked(Batch batch) {
  const std::size_t answers = batch.asked.size();
  for (std::size_t i = 0; i < answers; ++i) {
    if (batch.asks(i)) continue;
    if (!batch.labels.empty()) batch.labels[i] = i % 2 == 0 ? -7 : std::int64_t{1} << 40;
    for (std::size_t k = 0; k < batch.targets.size() / answers; ++k)
      batch.targets[i * batch.targets.size() / answers + k] = std::numeric_limits<float>::quiet_NaN();
  }
  return batch;
}

// What gradient() left, one tensor per parameter.
inline std::vector<StateTensor> gradients_in(Engine& engine) {
  const FlatGradient flat = engine.flat_gradient();
  std::vector<StateTensor> tensors;
  for (std::size_t i = 0; i < flat.parts.size(); ++i) {
    const ParameterPart& part = flat.parts[i];
    StateTensor tensor{engine.parameters()[i].name, engine.parameters()[i].shape, {}};
    for (std::size_t row = 0; row < part.rows; ++row) {
      const auto from = flat.floats().subspan(part.offset + row * part.stride, part.columns);
      tensor.values.insert(tensor.values.end(), from.begin(), from.end());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

inline std::string text_of(const EngineConfig& config) {
  const TaskShape& shape = config.shape;
  std::string text = config.model + " " + config.rule + " tokens " + std::to_string(shape.tokens) + " dimension " +
                     std::to_string(shape.dimension) + " vocabulary " + std::to_string(shape.vocabulary) + " image " +
                     std::to_string(shape.image.height) + " classes " + std::to_string(shape.classes) + " loss " +
                     std::to_string(static_cast<int>(shape.loss)) + " scale " +
                     std::to_string(static_cast<int>(config.scale.kind));
  for (const auto& [name, value] : config.rule_options) text += " " + name + "=" + to_toml(value);
  for (const auto& [name, value] : config.model_options) text += " " + name + "=" + to_toml(value);
  return text;
}

}  // namespace eureka
