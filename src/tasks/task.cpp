#include "tasks/task.h"

namespace eureka {

void Batch::resize(std::int64_t sample_count, const TaskShape& shape, std::size_t latent_count) {
  samples = sample_count;
  const auto count = static_cast<std::size_t>(sample_count);
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const auto asked = count * static_cast<std::size_t>(shape.labels());
  inputs.resize(count * static_cast<std::size_t>(shape.values()));
  ids.resize(shape.input() == InputKind::ids ? count * tokens : 0);
  labels.resize(asked);
  targets.resize(shape.loss == LossKind::squared ? asked * static_cast<std::size_t>(shape.classes) : 0);
  visible.clear();
  roles.resize(count * tokens);
  latents.resize(count * latent_count);
}

}  // namespace eureka
