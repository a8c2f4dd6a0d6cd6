// Permutation: values, a separator, then the same values in another order, always the same; after Gopalani & Hu 2025.
//
// The order is the task's own, not of a sample. The hidden step is to find, for each place, where to look.
#include <algorithm>
#include <numeric>

#include "tasks/algorithm_task.h"
#include "tasks/commonest_share.h"

namespace eureka {
namespace {

struct Options {
  int length = 16;
  int values = 16;
  std::int64_t order = 0;

  template <class V>
  void visit(V& v) {
    v("length", length, Range{2, 256}, "values in a sequence");
    v("values", values, Range{2, 65536}, "different values");
    v("order", order, Range{0, 9e15}, "which of all permutations, as the seed it is drawn with");
  }
};

class Permutation final : public AlgorithmTask {
 public:
  explicit Permutation(const Options& options)
      : AlgorithmTask("permutation", {options.length, options.length, options.values, options.values}),
        values_(options.values),
        places_(static_cast<std::size_t>(options.length)) {
    std::iota(places_.begin(), places_.end(), 0);
    RandomStream(static_cast<std::uint64_t>(options.order), "permutation order")
        .shuffle(std::span<std::int64_t>(places_));
  }

  // Who looks back but not at a certain place says the commonest value there.
  Metric metric() const override { return Metric::accuracy(commonest_share(sizes().source, values_)); }

  std::vector<Latent> latents() const override {
    return {{"look_at", static_cast<int>(sizes().source), true}, {"commonest", values_}};
  }

 private:
  void draw(RandomStream& random, const std::string&, std::span<std::int32_t> source) const override {
    draw_uniform(random, 0, values_ - 1, source);
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = source[static_cast<std::size_t>(places_[i])];
  }

  std::vector<std::int64_t> keys(Ids, std::int64_t output) const override {
    return {places_[static_cast<std::size_t>(output)]};
  }

  void explain(Ids source, Ids, std::int64_t output, std::span<int> latents) const override {
    latents[0] = static_cast<int>(places_[static_cast<std::size_t>(output)]);
    latents[1] = *std::max_element(source.begin(), source.end(), [&](std::int32_t a, std::int32_t b) {
      return std::count(source.begin(), source.end(), a) < std::count(source.begin(), source.end(), b);
    });
  }

  int values_;
  std::vector<std::int64_t> places_;  // in the source, of each output
};

EUREKA_TASK("permutation", Permutation, Options, "sequence: values, then the same in another order");

}  // namespace
}  // namespace eureka
