// Window sum: numbers, a separator, then the sum of the last few numbers, modulo a prime; after Gopalani & Hu 2025.
//
// Numbers lie in 1 to modulus - 1; with a window of 2, y_i = x_{i-1} + x_i and y_1 = x_1. The hidden step is to look at
// the whole window: who sees one of its numbers only can copy the first output and guesses the others.
#include <algorithm>

#include "tasks/algorithm_task.h"

namespace eureka {
namespace {

struct Options {
  int length = 16;
  int modulus = 17;
  int window = 2;

  template <class V>
  void visit(V& v) {
    v("length", length, Range{2, 2048}, "numbers, and as many sums");
    v("modulus", modulus, Range{3, 65536}, "of the sums; numbers are 1 to modulus - 1");
    v("window", window, Range{2, 2048}, "numbers in a sum; the first sums have fewer");
  }
};

class WindowSum final : public AlgorithmTask {
 public:
  explicit WindowSum(const Options& options)
      : AlgorithmTask("window-sum", {options.length, options.length, options.modulus, options.modulus}),
        modulus_(options.modulus),
        window_(options.window) {}

  // The first sum is a copy; of the others one knows the newest number and has to guess the sum of the rest.
  Metric metric() const override {
    const auto values = static_cast<double>(modulus_ - 1);
    double right = 1, zero = 0;  // the chance that the rest, of so many numbers, sums up to 0
    for (std::int64_t i = 1; i < sizes().outputs; ++i) {
      if (i > 1 && i < window_) zero = (1 - zero) / values;
      right += std::max(zero, (1 - zero) / values);
    }
    return Metric::accuracy(right / static_cast<double>(sizes().outputs));
  }

  std::vector<Latent> latents() const override {
    return {{"rest", modulus_, true}, {"place", static_cast<int>(sizes().outputs)}, {"newest", modulus_}};
  }

  // y_1 is x_1 and so never 0.
  bool balanced() const override { return false; }

 private:
  void draw(RandomStream& random, const std::string&, std::span<std::int32_t> source) const override {
    draw_uniform(random, 1, modulus_ - 1, source);
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    for (std::size_t i = 0; i < source.size(); ++i) {
      std::int64_t sum = 0;
      for (const std::int64_t key : keys(source, static_cast<std::int64_t>(i)))
        sum += source[static_cast<std::size_t>(key)];
      outputs[i] = static_cast<std::int32_t>(sum % modulus_);
    }
  }

  std::vector<std::int64_t> keys(Ids, std::int64_t output) const override {
    std::vector<std::int64_t> places;
    for (std::int64_t i = std::max<std::int64_t>(0, output - window_ + 1); i <= output; ++i) places.push_back(i);
    return places;
  }

  void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const override {
    const auto i = static_cast<std::size_t>(output);
    latents[0] = (outputs[i] - source[i] + modulus_) % modulus_;
    latents[1] = static_cast<int>(output);
    latents[2] = source[i];
  }

  int modulus_;
  int window_;
};

EUREKA_TASK("window-sum", WindowSum, Options, "sequence: numbers, then sums of neighbors, modulo a prime");

}  // namespace
}  // namespace eureka
