// In-context classification: items and their labels, then an item whose label is asked for, of a class that is mostly
// among those before it (Reddy 2023).
//
// Tokens: item label item label ... item. An item is the mean of its class plus noise, both drawn once and for all; a
// class has one of a few labels, and a label a random vector of its own, in the same space as the items: a token's
// place tells which of the two it is. The answer can be found in the context, where an item of that class stands
// beside its label, or in the weights, which may know the classes by heart. Two probes tell which one it is:
// "in_context" asks about classes nobody has seen, with labels drawn for the sequence; "in_weights" about classes that
// are not in the context.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/exact_math.h"
#include "base/random.h"
#include "tasks/task.h"

namespace eureka {
namespace {

struct Options {
  int classes = 1024;
  int labels = 32;
  int pairs = 8;
  int burstiness = 4;
  double bursty_share = 1;
  double noise = 0.1;
  double zipf = 0;
  int dimension = 63;

  template <class V>
  void visit(V& v) {
    v("classes", classes, Range{2, 65536}, "different classes of items");
    v("labels", labels, Range{2, 1024}, "different labels; class k has label k modulo labels");
    v("pairs", pairs, Range{1, 512}, "items with labels before the one that is asked for");
    v("burstiness", burstiness, Range{1, 512}, "items of a class in a bursty sequence; divides pairs");
    v("bursty_share", bursty_share, Range{0, 1},
      "of sequences with the class that is asked for; others are drawn freely");
    v("noise", noise, Range{0, 0.5}, "standard deviation within a class, the means' being 1");
    v("zipf", zipf, Range{0, 4}, "class k is drawn in proportion to 1 / k^zipf");
    v("dimension", dimension, Range{2, 4096}, "of a token");
  }
};

// Means and codes belong to the task, not to the seed of a run.
constexpr std::uint64_t kPrototypeSeed = 20230612;

enum class ItemRole : std::uint8_t { item, label, query };

// The classes and labels of a sequence; the last item is the one that is asked for.
struct Scene {
  std::vector<int> classes;
  std::vector<int> labels;
};

class InContextClassification final : public Task {
 public:
  explicit InContextClassification(const Options& options)
      : options_(checked(options)),
        dimension_(static_cast<std::size_t>(options.dimension)),
        pairs_(static_cast<std::size_t>(options.pairs)),
        means_(prototypes("in-context-classification mean", options.classes)),
        codes_(prototypes("in-context-classification label", options.labels)),
        shrink_(1 / std::sqrt(1 + static_cast<float>(options.noise * options.noise))) {
    double sum = 0;
    for (int k = 1; k <= options.classes; ++k) cumulative_.push_back(sum += exact::pow(k, -options.zipf));
    plateau_ = share_of_commonest();
  }

  TaskShape shape() const override {
    return {.tokens = static_cast<std::int64_t>(tokens()),
            .dimension = options_.dimension,
            .classes = options_.labels,
            .every_position = true};
  }

  // The commonest label of the context, whatever the item.
  Metric metric() const override { return Metric::accuracy(plateau_); }

  // In the order of ItemRole.
  std::vector<Role> roles() const override {
    return {{"item", "of some class", false},
            {"label", "of the item before it", true},
            {"query", "the item whose label is asked for", true}};
  }

  std::vector<Latent> latents() const override {
    return {{"pair", options_.pairs + 1, true}, {"commonest", options_.labels}};
  }

  bool balanced() const override { return options_.zipf == 0 && options_.classes % options_.labels == 0; }

  std::vector<Probe> probes() const override { return {{"in_context", kInContext}, {"in_weights", kInWeights}}; }

  void sample(const SampleRequest& request, Batch& batch) const override;
  std::vector<std::int64_t> oracle(const Batch& batch) const override;
  // The labels beside items of the same class; the item itself where there are none.
  std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const override;

 private:
  static constexpr const char* kInContext = "in-context";
  static constexpr const char* kInWeights = "in-weights";

  static const Options& checked(const Options& options) {
    if (options.pairs % options.burstiness != 0 || options.pairs / options.burstiness > options.classes)
      throw Error(ErrorKind::config,
                  fmt::format("{} pairs cannot be {} of each of some of {} classes", options.pairs, options.burstiness,
                              options.classes),
                  {}, "set task.burstiness to a divisor of task.pairs");
    return options;
  }

  std::vector<float> prototypes(const char* family, int count) const {
    std::vector<float> all(static_cast<std::size_t>(count) * dimension_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      RandomStream(kPrototypeSeed, family, i).fill_normal(std::span(all).subspan(i * dimension_, dimension_));
    return all;
  }

  std::size_t tokens() const { return 2 * pairs_ + 1; }
  std::size_t bursts() const { return pairs_ / static_cast<std::size_t>(options_.burstiness); }
  int draw_class(RandomStream& random) const {
    const double at = random.uniform() * cumulative_.back();
    return static_cast<int>(std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at) - cumulative_.begin());
  }
  void draw_scene(RandomStream& random, const std::string& stream, Scene& scene) const;
  int commonest_label(const Scene& scene) const;
  double share_of_commonest() const;
  void write_item(RandomStream& random, const float* mean, float* token) const;

  double distance(const float* a, const float* b, float scale = 1) const {
    double sum = 0;
    for (std::size_t i = 0; i < dimension_; ++i)
      sum += static_cast<double>((a[i] - scale * b[i]) * (a[i] - scale * b[i]));
    return sum;
  }
  // Pairs of the sequence at `row` whose item is of the class of its last item. Distances within classes and between
  // spread in proportion to their size, so the border is the geometric mean of the two.
  std::vector<std::size_t> matches(const float* row) const {
    const double border = 2 * options_.dimension * options_.noise * static_cast<double>(shrink_);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < pairs_; ++i)
      if (distance(row + 2 * i * dimension_, row + 2 * pairs_ * dimension_) <= border) found.push_back(i);
    return found;
  }
  int nearest(const float* token, const std::vector<float>& family, float scale) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i * dimension_ < family.size(); ++i)
      if (distance(token, family.data() + i * dimension_, scale) <
          distance(token, family.data() + best * dimension_, scale))
        best = i;
    return static_cast<int>(best);
  }

  Options options_;
  std::size_t dimension_;
  std::size_t pairs_;
  std::vector<float> means_;  // classes x dimension
  std::vector<float> codes_;  // labels x dimension
  float shrink_;              // keeps the variance of items at 1
  std::vector<double> cumulative_;
  double plateau_ = 0;
};

void InContextClassification::draw_scene(RandomStream& random, const std::string& stream, Scene& scene) const {
  const bool novel = stream == kInContext, absent = stream == kInWeights;
  scene.classes.clear();
  scene.labels.clear();
  if (absent || (!novel && !random.chance(options_.bursty_share))) {
    const int asked = draw_class(random);
    while (scene.classes.size() < pairs_) {
      const int one = draw_class(random);
      if (!absent || one != asked) scene.classes.push_back(one);
    }
    scene.classes.push_back(asked);
  } else {
    std::vector<int> some;
    while (some.size() < bursts()) {
      const int one = novel ? static_cast<int>(some.size()) : draw_class(random);
      if (std::find(some.begin(), some.end(), one) == some.end()) some.push_back(one);
    }
    for (std::size_t i = 0; i < pairs_; ++i) scene.classes.push_back(some[i % some.size()]);
    random.shuffle(std::span<int>(scene.classes));
    scene.classes.push_back(some[random.below(static_cast<std::uint32_t>(some.size()))]);
  }
  std::vector<int> drawn(bursts());
  for (int& label : drawn)
    label = novel ? static_cast<int>(random.below(static_cast<std::uint32_t>(options_.labels))) : 0;
  for (const int one : scene.classes)
    scene.labels.push_back(novel ? drawn[static_cast<std::size_t>(one)] : one % options_.labels);
}

int InContextClassification::commonest_label(const Scene& scene) const {
  std::vector<int> counts(static_cast<std::size_t>(options_.labels));
  for (std::size_t i = 0; i < pairs_; ++i) ++counts[static_cast<std::size_t>(scene.labels[i])];
  return static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

// Over scenes that are always the same: with Zipf's law there is no formula.
double InContextClassification::share_of_commonest() const {
  constexpr int kScenes = 20'000;
  RandomStream random(0, "in-context-classification level");
  Scene scene;
  int right = 0;
  for (int i = 0; i < kScenes; ++i) {
    draw_scene(random, "train", scene);
    right += commonest_label(scene) == scene.labels.back() ? 1 : 0;
  }
  return static_cast<double>(right) / kScenes;
}

void InContextClassification::write_item(RandomStream& random, const float* mean, float* token) const {
  random.fill_normal(std::span(token, dimension_));
  for (std::size_t i = 0; i < dimension_; ++i)
    token[i] = shrink_ * (mean[i] + static_cast<float>(options_.noise) * token[i]);
}

void InContextClassification::sample(const SampleRequest& request, Batch& batch) const {
  batch.resize(request.samples, shape(), 2);
  batch.asked.assign(batch.labels.size(), 0);
  RandomStream random(request.seed, "in-context-classification " + request.stream, request.step);
  Scene scene;
  std::vector<float> fresh(bursts() * dimension_);
  for (std::size_t sample = 0; sample < static_cast<std::size_t>(request.samples); ++sample) {
    draw_scene(random, request.stream, scene);
    if (request.stream == kInContext) random.fill_normal(fresh);
    const std::vector<float>& means = request.stream == kInContext ? fresh : means_;
    const std::size_t first = sample * tokens(), answer = first + 2 * pairs_;
    float* row = batch.inputs.data() + first * dimension_;
    for (std::size_t i = 0; i <= pairs_; ++i) {
      write_item(random, means.data() + static_cast<std::size_t>(scene.classes[i]) * dimension_,
                 row + 2 * i * dimension_);
      batch.roles[first + 2 * i] = static_cast<std::uint8_t>(i < pairs_ ? ItemRole::item : ItemRole::query);
      if (i == pairs_) break;
      std::copy_n(codes_.data() + static_cast<std::size_t>(scene.labels[i]) * dimension_, dimension_,
                  row + (2 * i + 1) * dimension_);
      batch.roles[first + 2 * i + 1] = static_cast<std::uint8_t>(ItemRole::label);
    }
    batch.asked[answer] = 1;
    batch.labels[answer] = scene.labels.back();
    const auto match = std::find(scene.classes.begin(), scene.classes.end() - 1, scene.classes.back());
    batch.latents[2 * answer] = static_cast<int>(match - scene.classes.begin());
    batch.latents[2 * answer + 1] = commonest_label(scene);
  }
}

std::vector<std::int64_t> InContextClassification::oracle(const Batch& batch) const {
  std::vector<std::int64_t> labels(batch.labels.size(), -1);
  for (std::size_t first = 0; first < labels.size(); first += tokens()) {
    const float* row = batch.inputs.data() + first * dimension_;
    const std::vector<std::size_t> found = matches(row);
    labels[first + 2 * pairs_] = found.empty()
                                     ? nearest(row + 2 * pairs_ * dimension_, means_, shrink_) % options_.labels
                                     : nearest(row + (2 * found.front() + 1) * dimension_, codes_, 1);
  }
  return labels;
}

std::vector<std::int64_t> InContextClassification::keys_of_answer(const Batch& batch, std::int64_t answer) const {
  const auto at = static_cast<std::size_t>(answer);
  if (at % tokens() != 2 * pairs_) return {};
  std::vector<std::int64_t> keys;
  for (const std::size_t pair : matches(batch.inputs.data() + (at - 2 * pairs_) * dimension_))
    keys.push_back(static_cast<std::int64_t>(2 * pair + 1));
  if (keys.empty()) keys.push_back(static_cast<std::int64_t>(2 * pairs_));
  return keys;
}

EUREKA_TASK("in-context-classification", InContextClassification, Options,
            "sequence: items and labels, then an item of one of their classes, known from the context or by heart");

}  // namespace
}  // namespace eureka
