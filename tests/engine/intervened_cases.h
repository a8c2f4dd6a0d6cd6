// Configs with something done to their heads, and batches that name keys.
#pragma once

#include <vector>

#include "engine/fused_cases.h"

namespace eureka {

// Tokens a model makes of one sample, without the cls token.
inline std::size_t given_tokens(const EngineConfig& config) {
  const TaskShape& shape = config.shape;
  if (shape.input() != InputKind::image) return static_cast<std::size_t>(shape.tokens);
  const std::int64_t patch = std::get<std::int64_t>(config.model_options.at("patch"));
  return static_cast<std::size_t>((shape.image.height / patch) * (shape.image.width / patch));
}

// Some answers name no key at all.
inline Batch batch_with_keys(const EngineConfig& config, std::int64_t samples, const BatchOptions& options = {}) {
  Batch batch = random_batch(config.shape, samples, options);
  RandomStream random(7, "wanted keys", options.step);
  batch.wanted.resize(static_cast<std::size_t>(samples * config.shape.labels()) * given_tokens(config));
  for (std::uint8_t& wanted : batch.wanted) wanted = random.uniform_float() < 0.3F ? 1 : 0;
  return batch;
}

// Every way in which heads are changed; heads 1 of all blocks, all heads of block 0, of block 1, or all there are.
inline std::vector<HeadInterventions> head_interventions() {
  std::vector<HeadInterventions> all;
  for (const HeadChoice& of : {HeadChoice{{}, {1}}, HeadChoice{{0}, {}}, HeadChoice{{1}, {}}, HeadChoice{{}, {}}}) {
    all.push_back({.scale = {2.5, of, {}}, .attention = {}});
    for (const FixedKind kind : {FixedKind::uniform, FixedKind::wanted}) {
      all.push_back({.scale = {}, .attention = {kind, of, {}}});
      all.push_back({.scale = {0.4, {{1}, {0}}, {}}, .attention = {kind, of, {}}});
    }
  }
  return all;
}

}  // namespace eureka
