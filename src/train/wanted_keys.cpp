#include "train/wanted_keys.h"

#include <algorithm>

#include "engine/transformer_layout.h"

namespace eureka {
namespace {

// Tiles in reading order; their images are made of two rows of two.
constexpr std::size_t kTilesAcross = 2;

// The tiles along one side of an image that a stretch of it touches.
std::vector<std::size_t> tiles_touched(std::int64_t first, std::int64_t count, std::int64_t side) {
  const std::int64_t tile = side / static_cast<std::int64_t>(kTilesAcross);
  std::vector<std::size_t> tiles;
  for (std::size_t i = 0; i < kTilesAcross; ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * tile;
    if (first < begin + tile && first + count > begin) tiles.push_back(i);
  }
  return tiles;
}

std::vector<std::vector<std::size_t>> tokens_of(const RunConfig& config, const TaskShape& shape) {
  const TransformerPlan plan =
      plan_transformer(transformer_kind(config.model.name).value(), config.model.options, shape);
  std::vector<std::vector<std::size_t>> tokens(static_cast<std::size_t>(plan.given));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (plan.patch == 0) {
      tokens[i] = {i};
      continue;
    }
    const auto token = static_cast<std::int64_t>(i), across = shape.image.width / plan.patch;
    for (const std::size_t y : tiles_touched(token / across * plan.patch, plan.patch, shape.image.height))
      for (const std::size_t x : tiles_touched(token % across * plan.patch, plan.patch, shape.image.width))
        tokens[i].push_back(y * kTilesAcross + x);
  }
  return tokens;
}

}  // namespace

WantedKeys::WantedKeys(const RunConfig& config, const Task& task)
    : task_(task),
      shape_(task.shape()),
      kind_(config.intervene.attention.kind),
      during_{config.intervene.attention.from, config.intervene.attention.until} {
  if (kind_ != AttentionFix::oracle && kind_ != AttentionFix::role) return;
  tokens_ = tokens_of(config, shape_);
  const std::vector<Role> roles = task.roles();
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i].name == config.intervene.attention.role) role_ = static_cast<std::uint8_t>(i);
}

void WantedKeys::fill(Batch& batch, std::int64_t step) const {
  batch.wanted.clear();
  if (tokens_.empty() || !during_.has(step)) return;
  const auto labels = static_cast<std::size_t>(shape_.labels()), samples = static_cast<std::size_t>(batch.samples);
  const std::size_t places = batch.roles.size() / samples;
  batch.wanted.resize(samples * labels * tokens_.size());
  std::vector<std::uint8_t> chosen(places);
  auto wanted = batch.wanted.begin();
  for (std::size_t answer = 0; answer < samples * labels; ++answer) {
    std::fill(chosen.begin(), chosen.end(), std::uint8_t{0});
    if (kind_ == AttentionFix::role) {
      const std::uint8_t* roles = batch.roles.data() + answer / labels * places;
      for (std::size_t i = 0; i < places; ++i) chosen[i] = roles[i] == role_ ? 1 : 0;
    } else if (batch.asks(answer)) {
      for (const std::int64_t key : task_.keys_of_answer(batch, static_cast<std::int64_t>(answer)))
        chosen[static_cast<std::size_t>(key)] = 1;
    }
    for (const Shown& shown : tokens_)
      *wanted++ = std::any_of(shown.begin(), shown.end(), [&](std::size_t i) { return chosen[i] != 0; }) ? 1 : 0;
  }
}

}  // namespace eureka
