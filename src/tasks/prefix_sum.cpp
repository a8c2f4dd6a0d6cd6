// Prefix sum: numbers, a separator, then the sum of all numbers so far, modulo a prime; after Gopalani & Hu 2025.
//
// Numbers lie in 1 to modulus - 1; y_i = x_1 + ... + x_i = y_{i-1} + x_i. The hidden step is to look at x_i.
#include "tasks/algorithm_task.h"

namespace eureka {
namespace {

struct Options {
  int length = 16;
  int modulus = 17;

  template <class V>
  void visit(V& v) {
    v("length", length, Range{2, 2048}, "numbers, and as many sums");
    v("modulus", modulus, Range{3, 65536}, "of the sums; numbers are 1 to modulus - 1");
  }
};

class PrefixSum final : public AlgorithmTask {
 public:
  explicit PrefixSum(const Options& options)
      : AlgorithmTask("prefix-sum", {options.length, options.length, options.modulus, options.modulus}),
        modulus_(options.modulus) {}

  // The first sum is a copy; of the others one knows, without x_i, only that they are not the sum before.
  Metric metric() const override {
    const auto length = static_cast<double>(sizes().outputs);
    return Metric::accuracy((1 + (length - 1) / (modulus_ - 1)) / length);
  }

  // x_1 counts as the first sum so far: a copy needs no other.
  std::vector<Latent> latents() const override {
    return {{"newest", modulus_, true}, {"place", static_cast<int>(sizes().outputs)}, {"sum_so_far", modulus_}};
  }

  // y_1 is x_1 and so never 0.
  bool balanced() const override { return false; }

 private:
  void draw(RandomStream& random, const std::string&, std::span<std::int32_t> source) const override {
    draw_uniform(random, 1, modulus_ - 1, source);
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < source.size(); ++i) outputs[i] = sum = (sum + source[i]) % modulus_;
  }

  std::vector<std::int64_t> keys(Ids, std::int64_t output) const override { return {output}; }

  void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const override {
    const auto i = static_cast<std::size_t>(output);
    latents[0] = i == 0 ? 0 : source[i];
    latents[1] = static_cast<int>(output);
    latents[2] = outputs[i == 0 ? 0 : i - 1];
  }

  int modulus_;
};

EUREKA_TASK("prefix-sum", PrefixSum, Options, "sequence: numbers, then the sum of all so far, modulo a prime");

}  // namespace
}  // namespace eureka
