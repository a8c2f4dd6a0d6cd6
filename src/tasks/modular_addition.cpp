// Modular addition: two numbers and their sum modulo a prime, of which only a share is ever trained on; the task that
// grokking was found on (Power et al. 2022).
//
// Tokens: a b =. There are modulus^2 samples; (a, b) and (b, a) are on the same side. Training is soon solved by heart
// and shows no plateau; what comes late is validation.
#include "tasks/algorithm_task.h"

namespace eureka {
namespace {

struct Options {
  int modulus = 53;
  double train_share = 0.6;
  std::int64_t split_seed = 0;

  template <class V>
  void visit(V& v) {
    v("modulus", modulus, Range{3, 1024}, "of the sums; numbers are 0 to modulus - 1");
    v("train_share", train_share, Range{0.01, 0.99},
      "of all pairs, whatever their order, for training; validation has the rest");
    v("split_seed", split_seed, Range{0, 9e15}, "which pairs are for training; the same for all seeds of a run");
  }
};

class ModularAddition final : public AlgorithmTask {
 public:
  explicit ModularAddition(const Options& options)
      : AlgorithmTask("modular-addition", {2, 1, options.modulus, options.modulus}), modulus_(options.modulus) {
    std::vector<Pair> pairs;
    for (std::int32_t a = 0; a < modulus_; ++a)
      for (std::int32_t b = a; b < modulus_; ++b) pairs.push_back({a, b});
    RandomStream(static_cast<std::uint64_t>(options.split_seed), "modular-addition split")
        .shuffle(std::span<Pair>(pairs));
    const auto train_pairs = static_cast<std::size_t>(options.train_share * static_cast<double>(pairs.size()));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      std::vector<Pair>& side = i < std::max<std::size_t>(1, train_pairs) ? train_ : held_out_;
      side.push_back(pairs[i]);
      if (pairs[i].a != pairs[i].b) side.push_back({pairs[i].b, pairs[i].a});
    }
  }

  // Nothing is to be found before training succeeds: it learns by heart.
  Metric metric() const override { return Metric::accuracy({}); }
  std::vector<Latent> latents() const override { return {{"first", modulus_, true}, {"second", modulus_, true}}; }

  // A share of the pairs has some sums oftener than others.
  bool balanced() const override { return false; }
  bool finite() const override { return true; }

 private:
  struct Pair {
    std::int32_t a, b;
  };

  void draw(RandomStream& random, const std::string& stream, std::span<std::int32_t> source) const override {
    const std::vector<Pair>& side = stream == "train" ? train_ : held_out_;
    const Pair pair = side[random.below(static_cast<std::uint32_t>(side.size()))];
    source[0] = pair.a;
    source[1] = pair.b;
  }

  void solve(Ids source, std::span<std::int32_t> outputs) const override {
    outputs[0] = (source[0] + source[1]) % modulus_;
  }

  std::vector<std::int64_t> keys(Ids, std::int64_t) const override { return {0, 1}; }

  void explain(Ids source, Ids, std::int64_t, std::span<int> latents) const override {
    latents[0] = source[0];
    latents[1] = source[1];
  }

  int modulus_;
  std::vector<Pair> train_;
  std::vector<Pair> held_out_;
};

EUREKA_TASK("modular-addition", ModularAddition, Options,
            "sequence: two numbers and their sum modulo a prime; a share of all pairs is held out");

}  // namespace
}  // namespace eureka
