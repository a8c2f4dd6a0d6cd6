// The parameters of a model as data: names, shapes, groups and initial values, shared by every engine so that
// checkpoints and initial weights do not depend on who trains.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"

namespace eureka {

// What a parameter belongs to; learning-rate multipliers and initial scales go by it.
enum class ParameterGroup {
  embedding,
  positions,
  cls,
  query_key,
  value,
  projection,
  rule,
  mlp,
  norm,
  head,
  convolution
};
inline constexpr std::size_t kParameterGroups = 11;
constexpr auto enum_names(ParameterGroup) {
  return std::array<const char*, kParameterGroups>{"embedding", "positions",  "cls",        "query_key",
                                                   "value",     "projection", "rule",       "mlp",
                                                   "norm",      "head",       "convolution"};
}

// One factor per group: [train.lr_multiplier] embedding = 0.1
struct GroupFactors {
  std::array<double, kParameterGroups> factor{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

  double operator[](ParameterGroup group) const { return factor[static_cast<std::size_t>(group)]; }

  template <class V>
  void visit(V& v) {
    constexpr auto kNames = enum_names(ParameterGroup());
    for (std::size_t i = 0; i < kParameterGroups; ++i)
      v(kNames[i], factor[i], Range{0, 1e6}, "factor on the learning rate of this group");
  }
};

enum class Distribution { zero, one, constant, normal, truncated_normal, uniform };

struct Initializer {
  Distribution distribution = Distribution::zero;
  double size = 0;  // value, standard deviation, or half-width

  static Initializer zeros() { return {}; }
  static Initializer ones() { return {Distribution::one, 1}; }
  static Initializer constant(double value) { return {Distribution::constant, value}; }
  static Initializer uniform_fan_in(std::int64_t fan_in);  // U(+-1/sqrt(fan_in))
};

struct ParameterSpec {
  std::string name;  // "blocks.1.attn.q.weight"
  std::vector<std::int64_t> shape;
  ParameterGroup group = ParameterGroup::mlp;
  Initializer init;
  bool decays = false;  // takes weight decay

  std::int64_t size() const;
};

// Where a parameter lies in a flat buffer: a matrix whose rows begin every `stride` numbers; vectors are one row.
struct ParameterPart {
  std::size_t offset = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;

  std::size_t floats() const { return rows * stride; }
  bool exists() const { return rows > 0; }
};

// A pure function of (seed, spec.name, spec.init): runs with the same seed start from the same weights whatever else
// differs.
std::vector<float> initial_values(const ParameterSpec& spec, std::uint64_t seed);

// Drawn as those, but from a stream of their own; `draw` tells several apart.
std::vector<float> redrawn_values(const ParameterSpec& spec, std::uint64_t seed, std::uint64_t draw);

std::int64_t total_size(const std::vector<ParameterSpec>& specs);

}  // namespace eureka
