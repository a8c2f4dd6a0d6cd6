// The symbolic two-step task: two indicators decide which of two targets carries the label.
//
// Tokens: indicator, target, target, indicator, then distractors. The label is the first target's class if the
// indicators are of the same class, else the second's. Every class has a fixed prototype of norm sqrt(dimension); a
// token is its prototype plus noise. Which target counts is the hidden intermediate step: without it one guesses
// between two labels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "tasks/two_step_roles.h"

namespace eureka {
namespace {

struct Options {
  int classes = 10;
  int indicator_classes = 2;
  int distractors = 0;
  int views = 1;
  double noise = 0.3;
  int dimension = 16;
  bool shuffled = false;
  double same_probability = 0.5;

  template <class V>
  void visit(V& v) {
    v("classes", classes, Range{2, 1000}, "target classes, and so labels");
    v("indicator_classes", indicator_classes, Range{2, 1000}, "classes of the two indicators");
    v("distractors", distractors, Range{0, 4096}, "further items that mean nothing");
    v("views", views, Range{1, 64}, "tokens per item, each with its own noise");
    v("noise", noise, Range{0, 100}, "standard deviation of the noise on every token");
    v("dimension", dimension, Range{2, 4096}, "dimension of a token");
    v("shuffled", shuffled, "random order of the tokens; the second target then has prototypes of its own");
    v("same_probability", same_probability, Range{0, 1},
      "how often the indicators agree, so that the first target counts");
  }
};

// The prototypes belong to the task, not to the seed of a run.
constexpr std::uint64_t kPrototypeSeed = 20240721;

class TwoStep final : public Task {
 public:
  explicit TwoStep(const Options& options)
      : options_(options),
        indicators_(prototypes("two-step indicator", options.indicator_classes)),
        first_targets_(prototypes("two-step target", options.classes)),
        second_targets_(options.shuffled ? prototypes("two-step second target", options.classes) : first_targets_),
        distractors_(prototypes("two-step distractor", kDistractorClasses)) {}

  TaskShape shape() const override {
    return {.tokens = items() * options_.views, .dimension = options_.dimension, .classes = options_.classes};
  }

  Metric metric() const override {
    const double likelier = std::max(options_.same_probability, 1 - options_.same_probability);
    return Metric::accuracy(likelier + (1 - likelier) / options_.classes);
  }

  std::vector<Role> roles() const override { return two_step_roles(); }

  std::vector<Latent> latents() const override {
    return {{"same", 2, true},
            {"indicator_1", options_.indicator_classes, true},
            {"indicator_2", options_.indicator_classes, true},
            {"target_1", options_.classes, false},
            {"target_2", options_.classes, false}};
  }

  void sample(const SampleRequest& request, Batch& batch) const override;
  std::vector<std::int64_t> oracle(const Batch& batch) const override;
  // The indicators and the target that carries the label.
  std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const override;

 private:
  using Prototypes = std::vector<float>;  // classes x dimension
  static constexpr int kDistractorClasses = 10;

  struct Item {
    const Prototypes* family;
    int index;
    TwoStepRole role;
  };

  std::int64_t items() const { return 4 + options_.distractors; }
  Prototypes prototypes(const char* family, int classes) const;
  // Draws one sample; batch.inputs holds standard normal noise before.
  void sample_one(RandomStream& random, std::int64_t sample, std::vector<Item>& scratch, Batch& batch) const;

  // Whether a token that is a target is the first of the two.
  bool is_first_target(const float* token, std::int64_t place, int target_1, int target_2) const;
  float distance(const float* token, const Prototypes& family, int index) const;
  // Index and squared distance of the prototype nearest to a token.
  std::pair<int, float> nearest(const float* token, const Prototypes& family) const;

  Options options_;
  Prototypes indicators_;
  Prototypes first_targets_;
  Prototypes second_targets_;
  Prototypes distractors_;
};

TwoStep::Prototypes TwoStep::prototypes(const char* family, int classes) const {
  const auto dimension = static_cast<std::size_t>(options_.dimension);
  Prototypes all(static_cast<std::size_t>(classes) * dimension);
  for (int index = 0; index < classes; ++index) {
    const std::span<float> one(all.data() + static_cast<std::size_t>(index) * dimension, dimension);
    // A class keeps its prototype when the number of classes changes.
    RandomStream(kPrototypeSeed, family, static_cast<std::uint64_t>(index)).fill_normal(one);
    const float norm = std::sqrt(std::inner_product(one.begin(), one.end(), one.begin(), 0.0F));
    for (float& value : one) value *= std::sqrt(static_cast<float>(dimension)) / norm;
  }
  return all;
}

void TwoStep::sample(const SampleRequest& request, Batch& batch) const {
  batch.resize(request.samples, shape(), latents().size());
  RandomStream random(request.seed, "two-step " + request.stream, request.step);
  RandomStream(request.seed, "two-step noise " + request.stream, request.step).fill_normal(batch.inputs);
  std::vector<Item> scratch;
  scratch.reserve(static_cast<std::size_t>(shape().tokens));
  for (std::int64_t sample = 0; sample < request.samples; ++sample) sample_one(random, sample, scratch, batch);
}

void TwoStep::sample_one(RandomStream& random, std::int64_t sample, std::vector<Item>& scratch, Batch& batch) const {
  const auto classes = static_cast<std::uint32_t>(options_.classes);
  const auto indicator_classes = static_cast<std::uint32_t>(options_.indicator_classes);
  const bool same = random.chance(options_.same_probability);
  const auto indicator_1 = static_cast<int>(random.below(indicator_classes));
  const auto indicator_2 =
      same ? indicator_1
           : (indicator_1 + 1 + static_cast<int>(random.below(indicator_classes - 1))) % options_.indicator_classes;
  const auto target_1 = static_cast<int>(random.below(classes));
  const auto target_2 = static_cast<int>(random.below(classes));

  scratch.clear();
  const auto add = [&](const Prototypes& family, int index, TwoStepRole role) {
    for (int view = 0; view < options_.views; ++view) scratch.push_back({&family, index, role});
  };
  add(indicators_, indicator_1, TwoStepRole::indicator);
  add(first_targets_, target_1, TwoStepRole::target);
  add(second_targets_, target_2, TwoStepRole::target);
  add(indicators_, indicator_2, TwoStepRole::indicator);
  for (int i = 0; i < options_.distractors; ++i)
    add(distractors_, static_cast<int>(random.below(kDistractorClasses)), TwoStepRole::distractor);
  if (options_.shuffled) random.shuffle(std::span(scratch));

  const auto dimension = static_cast<std::size_t>(options_.dimension);
  const auto first_token = static_cast<std::size_t>(sample) * scratch.size();
  float* token = batch.inputs.data() + first_token * dimension;
  for (std::size_t i = 0; i < scratch.size(); ++i, token += dimension) {
    const float* prototype = scratch[i].family->data() + static_cast<std::size_t>(scratch[i].index) * dimension;
    for (std::size_t j = 0; j < dimension; ++j) token[j] = prototype[j] + static_cast<float>(options_.noise) * token[j];
    batch.roles[first_token + i] = static_cast<std::uint8_t>(scratch[i].role);
  }
  batch.labels[static_cast<std::size_t>(sample)] = same ? target_1 : target_2;
  int* latent = batch.latents.data() + sample * 5;
  latent[0] = same ? 1 : 0;
  latent[1] = indicator_1;
  latent[2] = indicator_2;
  latent[3] = target_1;
  latent[4] = target_2;
}

float TwoStep::distance(const float* token, const Prototypes& family, int index) const {
  const auto dimension = static_cast<std::size_t>(options_.dimension);
  const float* prototype = family.data() + static_cast<std::size_t>(index) * dimension;
  float square = 0;
  for (std::size_t j = 0; j < dimension; ++j) square += (token[j] - prototype[j]) * (token[j] - prototype[j]);
  return square;
}

std::pair<int, float> TwoStep::nearest(const float* token, const Prototypes& family) const {
  const auto classes = static_cast<int>(family.size() / static_cast<std::size_t>(options_.dimension));
  std::pair<int, float> best{-1, std::numeric_limits<float>::infinity()};
  for (int index = 0; index < classes; ++index)
    if (const float away = distance(token, family, index); away < best.second) best = {index, away};
  return best;
}

// With fixed positions both families are one, and the place tells which target it is.
bool TwoStep::is_first_target(const float* token, std::int64_t place, int target_1, int target_2) const {
  if (!options_.shuffled) return place < std::int64_t{2} * options_.views;
  return distance(token, first_targets_, target_1) < distance(token, second_targets_, target_2);
}

std::vector<std::int64_t> TwoStep::keys_of_answer(const Batch& batch, std::int64_t answer) const {
  const std::int64_t tokens = shape().tokens;
  const int* latent = batch.latents.data() + answer * 5;
  std::vector<std::int64_t> keys;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const auto role = static_cast<TwoStepRole>(batch.roles[static_cast<std::size_t>(answer * tokens + t)]);
    const float* token = batch.inputs.data() + (answer * tokens + t) * options_.dimension;
    if (role == TwoStepRole::indicator ||
        (role == TwoStepRole::target && is_first_target(token, t, latent[3], latent[4]) == (latent[0] == 1)))
      keys.push_back(t);
  }
  return keys;
}

std::vector<std::int64_t> TwoStep::oracle(const Batch& batch) const {
  const std::int64_t tokens = shape().tokens;
  std::vector<std::int64_t> labels;
  for (std::int64_t sample = 0; sample < batch.samples; ++sample) {
    std::vector<int> indicators;
    std::vector<int> targets[2];
    for (std::int64_t t = 0; t < tokens; ++t) {
      const float* token = batch.inputs.data() + (sample * tokens + t) * options_.dimension;
      const auto indicator = nearest(token, indicators_);
      const auto first = nearest(token, first_targets_);
      const auto second = nearest(token, second_targets_);
      const auto distractor = nearest(token, distractors_);
      const float target_distance = std::min(first.second, second.second);
      if (options_.distractors > 0 && distractor.second < std::min(indicator.second, target_distance)) continue;
      if (indicator.second < target_distance) {
        indicators.push_back(indicator.first);
      } else {
        const bool is_first = is_first_target(token, t, first.first, second.first);
        targets[is_first ? 0 : 1].push_back(is_first ? first.first : second.first);
      }
    }
    const auto [low, high] = std::minmax_element(indicators.begin(), indicators.end());
    const bool same = low == indicators.end() || *low == *high;
    const auto& answer = targets[same ? 0 : 1];
    labels.push_back(answer.empty() ? -1 : answer.front());
  }
  return labels;
}

EUREKA_TASK("two-step", TwoStep, Options, "symbolic: two indicators decide which of two targets carries the label");

}  // namespace
}  // namespace eureka
