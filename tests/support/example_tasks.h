// Tasks of kinds that no shipped task is of, so that tests meet them too. Registered where this is included: once in a
// test program.
#pragma once

#include <algorithm>
#include <array>

#include "base/random.h"
#include "tasks/task.h"

namespace eureka {
namespace {

// Regression at every position but the first: the size at hand times all signs so far. Without the signs, the best
// guess is 0.
class SignedProduct final : public Task {
 public:
  explicit SignedProduct(const NoOptions&) {}

  TaskShape shape() const override {
    return {.tokens = kTokens, .dimension = 2, .classes = 1, .every_position = true, .loss = LossKind::squared};
  }
  Metric metric() const override { return Metric::explained_variance(0); }
  std::vector<Role> roles() const override { return {{"number", "a size and a sign", true}}; }
  std::vector<Latent> latents() const override { return {{"sign", 2, true}}; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 1);
    batch.asked.assign(batch.targets.size(), 1);
    RandomStream random(request.seed, "signed-product " + request.stream, request.step);
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
      batch.inputs[2 * i] = 1 + random.uniform_float();
      batch.inputs[2 * i + 1] = random.below(2) == 0 ? -1.0F : 1.0F;
      batch.asked[i] = i % kTokens == 0 ? 0 : 1;
    }
    batch.targets = oracle_targets(batch);
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
      batch.latents[i] = batch.targets[i] > 0 ? 1 : 0;
      // Nobody asks there.
      if (batch.asked[i] == 0) batch.targets[i] = 1e30F, batch.latents[i] = -1;
    }
  }

  std::vector<float> oracle_targets(const Batch& batch) const override {
    std::vector<float> targets;
    float sign = 1;
    for (std::size_t i = 0; i < batch.inputs.size() / 2; ++i) {
      sign = (i % kTokens == 0 ? 1 : sign) * batch.inputs[2 * i + 1];
      targets.push_back(sign * batch.inputs[2 * i]);
    }
    return targets;
  }

 private:
  static constexpr std::int64_t kTokens = 5;
};

EUREKA_TASK("example-regression", SignedProduct, NoOptions, "test: numbers at every position");

// Text of a kind: ids one of which is likelier after each, measured in bits; nobody can know the next one.
class Chain final : public Task {
 public:
  explicit Chain(const NoOptions&) {}

  TaskShape shape() const override {
    return {.tokens = kTokens, .classes = 4, .vocabulary = 4, .every_position = true};
  }
  // Half the time the successor, otherwise any id: 5/8 for one and 1/8 for three. Without the id before it: 2 bits.
  Metric metric() const override { return Metric::bits("bits per character", 2, 1.548795); }
  std::vector<Role> roles() const override { return {{"character", "told by the one before it, more or less", true}}; }
  std::vector<Latent> latents() const override { return {{"before", 4, true}}; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 1);
    RandomStream random(request.seed, "chain " + request.stream, request.step);
    for (std::size_t first = 0; first < batch.ids.size(); first += kTokens) {
      std::int32_t id = static_cast<std::int32_t>(random.below(4));
      for (std::size_t i = first; i < first + kTokens; ++i) {
        batch.ids[i] = id;
        batch.latents[i] = id;
        id = random.below(2) == 0 ? (id + 1) % 4 : static_cast<std::int32_t>(random.below(4));
        batch.labels[i] = id;
      }
    }
  }

 private:
  static constexpr std::size_t kTokens = 6;
};

EUREKA_TASK("example-text", Chain, NoOptions, "test: ids that nobody can foresee, in bits");

// A hidden word: the answer may stand after its place, and is asked for in one place only.
class Hidden final : public Task {
 public:
  explicit Hidden(const NoOptions&) {}

  TaskShape shape() const override {
    return {.tokens = 4, .classes = 5, .vocabulary = 6, .every_position = true, .looks_ahead = true};
  }
  Metric metric() const override { return Metric::accuracy(0.2); }
  std::vector<Role> roles() const override {
    return {{"hidden", "to be found"}, {"filler", "means nothing"}, {"twin", "the same as the hidden one", true}};
  }
  std::vector<Latent> latents() const override { return {{"twin", 5, true}, {"filler", 5, false, true}}; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 2);
    batch.asked.assign(batch.labels.size(), 0);
    RandomStream random(request.seed, "hidden " + request.stream, request.step);
    for (std::size_t first = 0; first < batch.ids.size(); first += 4) {
      const auto twin = static_cast<std::int32_t>(random.below(5)), filler = static_cast<std::int32_t>(random.below(5));
      const std::array<std::int32_t, 4> ids = {5, filler, filler, twin};
      const std::array<std::uint8_t, 4> roles = {0, 1, 1, 2};
      std::copy(ids.begin(), ids.end(), batch.ids.begin() + static_cast<std::ptrdiff_t>(first));
      std::copy(roles.begin(), roles.end(), batch.roles.begin() + static_cast<std::ptrdiff_t>(first));
      batch.asked[first] = 1;
      batch.labels[first] = twin;
      batch.labels[first + 1] = -7;  // nobody asks there
      batch.latents[2 * first] = twin;
      batch.latents[2 * first + 1] = filler;
    }
  }

  std::vector<std::int64_t> oracle(const Batch& batch) const override {
    std::vector<std::int64_t> labels(batch.ids.size());
    for (std::size_t first = 0; first < labels.size(); first += 4) labels[first] = batch.ids[first + 3];
    return labels;
  }
};

EUREKA_TASK("example-hidden", Hidden, NoOptions, "test: an answer that stands after its place");

}  // namespace
}  // namespace eureka
