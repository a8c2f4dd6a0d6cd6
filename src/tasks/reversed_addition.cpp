// Reversed addition: the digits of two numbers, a separator, then those of their sum, the last digit first; after
// Gopalani & Hu 2025.
//
// Numbers are written as people do, one after the other: for 3 digits a2 a1 a0 b2 b1 b0 =, and c0 c1 c2 c3 is asked
// for. The hidden step is to look at the two digits that are added; then there is the carry.
#include <algorithm>

#include "tasks/algorithm_task.h"

namespace eureka {
namespace {

struct Options {
  int digits = 4;

  template <class V>
  void visit(V& v) {
    v("digits", digits, Range{1, 512}, "of each of the two numbers; the sum has one more");
  }
};

constexpr int kBase = 10;

class ReversedAddition final : public AlgorithmTask {
 public:
  explicit ReversedAddition(const Options& options)
      : AlgorithmTask("reversed-addition", {std::int64_t{2} * options.digits, options.digits + 1, kBase, kBase}),
        digits_(options.digits) {}

  // Digits are equally likely whatever stands before; the last carry follows, mostly, from the digit before it.
  Metric metric() const override {
    double below = 1;  // of the carry into the first digit of all, half of what is missing to 1
    for (int i = 1; i < digits_; ++i) below /= kBase;
    const double carry = (1 - below) / 2;
    double last = 0;
    for (int digit = 0; digit < kBase; ++digit)
      last += std::max(kBase - 1 - digit + carry, 1 + digit - carry) / (kBase * kBase);
    return Metric::accuracy((digits_ * 1.0 / kBase + last) / (digits_ + 1));
  }

  std::vector<Latent> latents() const override {
    return {{"digit_sum", 2 * kBase - 1, true}, {"carry", 2, true}, {"place", digits_ + 1}, {"before", kBase + 1}};
  }

  // The last output is 0 or 1.
  bool balanced() const override { return false; }

 private:
  void draw(RandomStream& random, const std::string&, std::span<std::int32_t> source) const override {
    draw_uniform(random, 0, kBase - 1, source);
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    int carry = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const int sum = digit_sum(source, static_cast<std::int64_t>(i)) + carry;
      outputs[i] = sum % kBase;
      carry = sum / kBase;
    }
  }

  // The two digits to be added, and the two before: with the digit that came out there they tell the carry.
  std::vector<std::int64_t> keys(Ids, std::int64_t output) const override {
    std::vector<std::int64_t> places;
    for (std::int64_t i = std::max<std::int64_t>(0, output - 1); i <= std::min<std::int64_t>(output, digits_ - 1); ++i)
      for (const std::int64_t number : {1, 2}) places.push_back(number * digits_ - 1 - i);
    return places;
  }

  void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const override {
    const auto i = static_cast<std::size_t>(output);
    latents[0] = digit_sum(source, output);
    latents[1] = (outputs[i] - latents[0] + 2 * kBase) % kBase;
    latents[2] = static_cast<int>(output);
    latents[3] = i == 0 ? kBase : outputs[i - 1];
  }

  // Of the digits at place `i` from the end; 0 where there are none any more.
  int digit_sum(Ids source, std::int64_t i) const {
    if (i >= digits_) return 0;
    return source[static_cast<std::size_t>(digits_ - 1 - i)] + source[static_cast<std::size_t>(2 * digits_ - 1 - i)];
  }

  int digits_;
};

EUREKA_TASK("reversed-addition", ReversedAddition, Options, "sequence: two numbers, then their sum, last digit first");

}  // namespace
}  // namespace eureka
