#include "train/wanted_keys.h"

#include <algorithm>

#include "base/error.h"
#include "engine/transformer_layout.h"
#include "tasks/token_places.h"

namespace eureka {

WantedKeys::WantedKeys(const RunConfig& config, const Task& task)
    : task_(task),
      shape_(task.shape()),
      kind_(config.intervene.attention.kind),
      during_{config.intervene.attention.from, config.intervene.attention.until} {
  if (kind_ != AttentionFix::oracle && kind_ != AttentionFix::role) return;
  tokens_ = plan_transformer(transformer_kind(config.model.name).value(), config.model.options, shape_).tokens();
  const std::vector<Role> roles = task.roles();
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i].name == config.intervene.attention.role) role_ = static_cast<std::uint8_t>(i);
}

void WantedKeys::fill(Batch& batch, std::int64_t step) const {
  batch.wanted.clear();
  if (tokens_ == 0 || !during_.has(step)) return;
  const auto labels = static_cast<std::size_t>(shape_.labels()), samples = static_cast<std::size_t>(batch.samples);
  const std::size_t places = batch.roles.size() / samples;
  std::vector<std::int64_t> given = token_places(shape_, tokens_, static_cast<std::int64_t>(places));
  EUREKA_CHECK(!given.empty(), "the tokens of the model lie in the places of the task");
  std::erase(given, -1);
  batch.wanted.resize(samples * labels * given.size());
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
    for (const std::int64_t place : given) *wanted++ = chosen[static_cast<std::size_t>(place)];
  }
}

}  // namespace eureka
