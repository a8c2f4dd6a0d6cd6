#include "tasks/task.h"

namespace eureka {

void Batch::resize(std::int64_t sample_count, const TaskShape& shape, std::size_t latent_count) {
  samples = sample_count;
  const auto count = static_cast<std::size_t>(sample_count);
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const auto answers = count * static_cast<std::size_t>(shape.labels());
  const bool squared = shape.loss == LossKind::squared;
  inputs.resize(count * static_cast<std::size_t>(shape.values()));
  ids.resize(shape.input() == InputKind::ids ? count * tokens : 0);
  labels.resize(squared ? 0 : answers);
  targets.resize(squared ? answers * static_cast<std::size_t>(shape.classes) : 0);
  asked.clear();
  visible.clear();
  wanted.clear();
  roles.resize(count * tokens);
  latents.resize(answers * latent_count);
}

std::vector<std::int64_t> Task::keys_of_answer(const Batch& batch, std::int64_t answer) const {
  const TaskShape sizes = shape();
  const std::vector<Role> known = roles();
  const auto tokens = static_cast<std::int64_t>(batch.roles.size()) / batch.samples;
  const std::int64_t sample = answer / sizes.labels(), position = answer % sizes.labels();
  const bool sees_all = !sizes.every_position || sizes.looks_ahead;
  std::vector<std::int64_t> keys;
  for (std::int64_t token = 0; token < (sees_all ? tokens : position + 1); ++token)
    if (known[batch.roles[static_cast<std::size_t>(sample * tokens + token)]].matters) keys.push_back(token);
  return keys;
}

}  // namespace eureka
