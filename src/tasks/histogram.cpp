// Histogram: values, a separator, then for each value how often it occurs among them; after Gopalani & Hu 2025.
//
// The hidden step is to compare a value with all the others. Without it one guesses a likely count; the count before
// helps a little, since the two values may be the same.
#include <algorithm>

#include "tasks/algorithm_task.h"

namespace eureka {
namespace {

struct Options {
  int length = 16;
  int values = 12;

  template <class V>
  void visit(V& v) {
    v("length", length, Range{2, 512}, "values in a sequence, and as many counts");
    v("values", values, Range{2, 65536}, "different values");
  }
};

// Chances of 0, 1, ... `trials` successes.
std::vector<double> binomial(std::int64_t trials, double chance) {
  std::vector<double> all = {1};
  for (std::int64_t i = 0; i < trials; ++i) {
    all.push_back(0);
    for (std::size_t k = all.size(); k-- > 0;) all[k] = all[k] * (1 - chance) + (k > 0 ? all[k - 1] * chance : 0);
  }
  return all;
}

class Histogram final : public AlgorithmTask {
 public:
  explicit Histogram(const Options& options)
      : AlgorithmTask("histogram", {options.length, options.length, options.length + 1,
                                    std::max(options.length, options.values) + 1}),
        values_(options.values) {}

  // The likeliest count, given the count before.
  Metric metric() const override {
    const std::int64_t length = sizes().source;
    const double same = 1.0 / values_;
    const std::vector<double> first = binomial(length - 1, same), others = binomial(length - 2, same);
    double later = 0;
    for (std::int64_t before = 1; before <= length; ++before) {
      std::vector<double> joint(static_cast<std::size_t>(length) + 1, 0.0);
      const auto at = static_cast<std::size_t>(before);
      if (before > 1) joint[at] += same * others[at - 2];
      if (before < length) {
        const std::vector<double> rest = binomial(length - 1 - before, 1.0 / (values_ - 1));
        for (std::size_t k = 0; k < rest.size(); ++k) joint[k + 1] += (1 - same) * others[at - 1] * rest[k];
      }
      later += *std::max_element(joint.begin(), joint.end());
    }
    const auto count = static_cast<double>(length);
    return Metric::accuracy((*std::max_element(first.begin(), first.end()) + (count - 1) * later) / count);
  }

  std::vector<Latent> latents() const override {
    return {{"value", values_ + 1, true}, {"before", static_cast<int>(sizes().classes)}};
  }

  // Few values occur very often.
  bool balanced() const override { return false; }

 private:
  void draw(RandomStream& random, const std::string&, std::span<std::int32_t> source) const override {
    draw_uniform(random, 1, values_, source);
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    for (std::size_t i = 0; i < source.size(); ++i)
      outputs[i] = static_cast<std::int32_t>(std::count(source.begin(), source.end(), source[i]));
  }

  // All that are the same as the value in question.
  std::vector<std::int64_t> keys(Ids source, std::int64_t output) const override {
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i] == source[static_cast<std::size_t>(output)]) places.push_back(static_cast<std::int64_t>(i));
    return places;
  }

  void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const override {
    const auto i = static_cast<std::size_t>(output);
    latents[0] = source[i];
    latents[1] = i == 0 ? 0 : outputs[i - 1];
  }

  int values_;
};

EUREKA_TASK("histogram", Histogram, Options, "sequence: values, then for each of them how often it occurs");

}  // namespace
}  // namespace eureka
