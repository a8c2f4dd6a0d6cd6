#include "tasks/task.h"

namespace eureka {

void Batch::resize(std::int64_t sample_count, const TaskShape& shape, std::size_t latent_count) {
  samples = sample_count;
  const auto count = static_cast<std::size_t>(sample_count);
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  inputs.resize(count * tokens * static_cast<std::size_t>(shape.dimension));
  labels.resize(count);
  roles.resize(count * tokens);
  latents.resize(count * latent_count);
}

}  // namespace eureka
