#include "engine/parameters.h"

#include <cmath>

#include "base/random.h"

namespace eureka {
namespace {

float truncated_normal(RandomStream& random) {
  float value = random.normal();
  while (std::abs(value) > 2) value = random.normal();
  return value;
}

}  // namespace

Initializer Initializer::uniform_fan_in(std::int64_t fan_in) {
  return {Distribution::uniform, 1 / std::sqrt(static_cast<double>(fan_in))};
}

std::int64_t ParameterSpec::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

namespace {

std::vector<float> drawn_values(const ParameterSpec& spec, RandomStream random) {
  std::vector<float> values(static_cast<std::size_t>(spec.size()));
  const auto size = static_cast<float>(spec.init.size);
  for (float& value : values) {
    switch (spec.init.distribution) {
      case Distribution::zero:
        value = 0;
        break;
      case Distribution::one:
        value = 1;
        break;
      case Distribution::constant:
        value = size;
        break;
      case Distribution::normal:
        value = size * random.normal();
        break;
      case Distribution::truncated_normal:
        value = size * truncated_normal(random);
        break;
      case Distribution::uniform:
        value = size * (2 * random.uniform_float() - 1);
        break;
    }
  }
  return values;
}

}  // namespace

std::vector<float> initial_values(const ParameterSpec& spec, std::uint64_t seed) {
  return drawn_values(spec, RandomStream(seed, "initial " + spec.name));
}

std::vector<float> redrawn_values(const ParameterSpec& spec, std::uint64_t seed, std::uint64_t draw) {
  return drawn_values(spec, RandomStream(seed, "redrawn " + spec.name, draw));
}

std::int64_t total_size(const std::vector<ParameterSpec>& specs) {
  std::int64_t total = 0;
  for (const ParameterSpec& spec : specs) total += spec.size();
  return total;
}

}  // namespace eureka
