#include "tasks/algorithm_task.h"

namespace eureka {

TaskShape AlgorithmTask::shape() const {
  return {.tokens = sizes_.source + sizes_.outputs,
          .classes = sizes_.classes,
          .vocabulary = sizes_.separator + 1,
          .every_position = true};
}

// In the order of AlgorithmRole.
std::vector<Role> AlgorithmTask::roles() const {
  return {{"source", "what the algorithm works on", true},
          {"separator", "outputs are asked for from here on", false},
          {"output", "an output that has been given", false}};
}

void AlgorithmTask::sample(const SampleRequest& request, Batch& batch) const {
  const std::size_t latent_count = latents().size();
  batch.resize(request.samples, shape(), latent_count);
  batch.asked.assign(batch.labels.size(), 0);
  RandomStream random(request.seed, name_ + " " + request.stream, request.step);
  std::vector<std::int32_t> outputs(static_cast<std::size_t>(sizes_.outputs));
  for (std::size_t i = 0; i < static_cast<std::size_t>(request.samples); ++i)
    sample_one(random, request.stream, i, latent_count, outputs, batch);
}

void AlgorithmTask::sample_one(RandomStream& random, const std::string& stream, std::size_t sample,
                               std::size_t latent_count, std::vector<std::int32_t>& outputs, Batch& batch) const {
  const auto source_size = static_cast<std::size_t>(sizes_.source);
  const std::size_t first = sample * tokens();
  const auto source = std::span(batch.ids).subspan(first, source_size);
  draw(random, stream, source);
  solve(source, outputs);
  for (std::size_t i = 0; i < tokens(); ++i) {
    const auto role = i < source_size    ? AlgorithmRole::source
                      : i == source_size ? AlgorithmRole::separator
                                         : AlgorithmRole::output;
    batch.roles[first + i] = static_cast<std::uint8_t>(role);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t answer = first + source_size + i;
    batch.ids[answer] = i == 0 ? static_cast<std::int32_t>(sizes_.separator) : outputs[i - 1];
    batch.asked[answer] = 1;
    batch.labels[answer] = outputs[i];
    explain(source, outputs, static_cast<std::int64_t>(i),
            std::span(batch.latents).subspan(answer * latent_count, latent_count));
  }
}

std::vector<std::int64_t> AlgorithmTask::oracle(const Batch& batch) const {
  std::vector<std::int64_t> labels(batch.ids.size(), -1);
  std::vector<std::int32_t> outputs(static_cast<std::size_t>(sizes_.outputs));
  const auto source_size = static_cast<std::size_t>(sizes_.source);
  for (std::size_t first = 0; first < labels.size(); first += tokens()) {
    solve(std::span(batch.ids).subspan(first, source_size), outputs);
    std::copy(outputs.begin(), outputs.end(), labels.begin() + static_cast<std::ptrdiff_t>(first + source_size));
  }
  return labels;
}

std::vector<std::int64_t> AlgorithmTask::keys_of_answer(const Batch& batch, std::int64_t answer) const {
  const auto count = static_cast<std::int64_t>(tokens());
  const std::int64_t output = answer % count - sizes_.source;
  if (output < 0) return {};
  const auto first = static_cast<std::size_t>(answer - answer % count);
  return keys(std::span(batch.ids).subspan(first, static_cast<std::size_t>(sizes_.source)), output);
}

void AlgorithmTask::draw_uniform(RandomStream& random, std::int64_t low, std::int64_t high,
                                 std::span<std::int32_t> ids) {
  for (std::int32_t& id : ids)
    id = static_cast<std::int32_t>(low + random.below(static_cast<std::uint32_t>(high - low + 1)));
}

}  // namespace eureka
