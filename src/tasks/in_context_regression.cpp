// In-context regression: points x and their values y = w x + noise, one after the other, with a w drawn for each
// sequence; asked for is the value of every point before it is told (Garg et al. 2022).
//
// Tokens: x1 y1 x2 y2 ... xN, vectors of one number more than a point has: points leave the last at 0, values all but
// the last, so that no token needs its place to be told apart. Who does not find w can do no better than to say 0.
#include <cmath>
#include <span>

#include "base/random.h"
#include "tasks/task.h"

namespace eureka {
namespace {

struct Options {
  int dimension = 3;
  int points = 10;
  double noise = 0;

  template <class V>
  void visit(V& v) {
    v("dimension", dimension, Range{1, 64}, "of a point");
    v("points", points, Range{2, 1024}, "points in a sequence; the value of each is asked for");
    v("noise", noise, Range{0, 100}, "standard deviation of the noise on every value");
  }
};

// What is known of w ~ N(0, I) after some points: the ridge estimate, penalty noise^2, which nobody beats. Without
// noise it is least squares, of least norm while there are too few points.
class Posterior {
 public:
  Posterior(std::size_t dimension, double noise)
      : noise_variance_(noise * noise), mean_(dimension), covariance_(dimension * dimension), gain_(dimension) {
    for (std::size_t i = 0; i < dimension; ++i) covariance_[i * dimension + i] = 1;
  }

  double predict(std::span<const float> x) const {
    double sum = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) sum += mean_[i] * static_cast<double>(x[i]);
    return sum;
  }

  // Of the value at x, noise included.
  double variance(std::span<const float> x) const {
    double sum = noise_variance_;
    for (std::size_t i = 0; i < mean_.size(); ++i) sum += static_cast<double>(x[i]) * along(x, i);
    return sum;
  }

  void learn(std::span<const float> x, double y) {
    const double error = y - predict(x), spread = variance(x);
    if (spread < kKnown) return;  // what is left is rounding
    for (std::size_t i = 0; i < mean_.size(); ++i) gain_[i] = along(x, i);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      mean_[i] += gain_[i] / spread * error;
      for (std::size_t k = 0; k < mean_.size(); ++k) covariance_[i * mean_.size() + k] -= gain_[i] * gain_[k] / spread;
    }
  }

 private:
  static constexpr double kKnown = 1e-12;

  double along(std::span<const float> x, std::size_t row) const {
    double sum = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i)
      sum += covariance_[row * mean_.size() + i] * static_cast<double>(x[i]);
    return sum;
  }

  double noise_variance_;
  std::vector<double> mean_, covariance_, gain_;
};

enum class PointRole : std::uint8_t { point, value };

class InContextRegression final : public Task {
 public:
  explicit InContextRegression(const Options& options)
      : dimension_(static_cast<std::size_t>(options.dimension)),
        points_(static_cast<std::size_t>(options.points)),
        noise_(options.noise),
        best_(explained_at_best()) {}

  TaskShape shape() const override {
    return {.tokens = static_cast<std::int64_t>(tokens()),
            .dimension = static_cast<std::int64_t>(dimension_ + 1),
            .classes = 1,
            .every_position = true,
            .loss = LossKind::squared};
  }

  // Without w, 0 is the best guess.
  Metric metric() const override { return Metric::explained_variance(0, best_); }

  // In the order of PointRole.
  std::vector<Role> roles() const override {
    return {{"point", "its value is asked for here", true}, {"value", "of the point before it", true}};
  }

  std::vector<Latent> latents() const override {
    return {{"sign", 2, true, false, {"below 0", "above 0"}}, {"values_told", static_cast<int>(points_)}};
  }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 2);
    batch.asked.assign(batch.targets.size(), 0);
    std::fill(batch.targets.begin(), batch.targets.end(), 0.0F);
    std::fill(batch.inputs.begin(), batch.inputs.end(), 0.0F);
    RandomStream random(request.seed, "in-context-regression " + request.stream, request.step);
    std::vector<float> weights(dimension_);
    for (std::size_t sample = 0; sample < static_cast<std::size_t>(request.samples); ++sample) {
      for (float& weight : weights) weight = random.normal();
      sample_one(random, sample, weights, batch);
    }
  }

  std::vector<float> oracle_targets(const Batch& batch) const override {
    std::vector<float> targets(batch.targets.size(), 0.0F);
    for (std::size_t first = 0; first < targets.size(); first += tokens()) {
      Posterior known(dimension_, noise_);
      for (std::size_t i = 0; i < points_; ++i) {
        const auto point = token(batch, first + 2 * i);
        targets[first + 2 * i] = static_cast<float>(known.predict(point));
        if (i + 1 < points_) known.learn(point, static_cast<double>(token(batch, first + 2 * i + 1)[dimension_]));
      }
    }
    return targets;
  }

 private:
  std::size_t tokens() const { return 2 * points_ - 1; }

  std::span<const float> token(const Batch& batch, std::size_t index) const {
    return std::span(batch.inputs).subspan(index * (dimension_ + 1), dimension_ + 1);
  }

  void sample_one(RandomStream& random, std::size_t sample, std::span<const float> weights, Batch& batch) const {
    for (std::size_t i = 0; i < points_; ++i) {
      const std::size_t answer = sample * tokens() + 2 * i;
      float* point = batch.inputs.data() + answer * (dimension_ + 1);
      float value = noise_ > 0 ? static_cast<float>(noise_) * random.normal() : 0.0F;
      for (std::size_t k = 0; k < dimension_; ++k) {
        point[k] = random.normal();
        value += weights[k] * point[k];
      }
      batch.asked[answer] = 1;
      batch.targets[answer] = value;
      batch.roles[answer] = static_cast<std::uint8_t>(PointRole::point);
      batch.latents[2 * answer] = value > 0 ? 1 : 0;
      batch.latents[2 * answer + 1] = static_cast<int>(i);
      if (i + 1 == points_) continue;
      point[2 * dimension_ + 1] = value;
      batch.roles[answer + 1] = static_cast<std::uint8_t>(PointRole::value);
    }
  }

  // Without noise the share (d - i) / d of the squares is unknown after i points, on the mean. With noise there is no
  // formula: the mean over sequences that are always the same.
  double explained_at_best() const {
    const auto dimension = static_cast<double>(dimension_), points = static_cast<double>(points_);
    if (noise_ == 0) {
      double unknown = 0;
      for (std::size_t i = 0; i < std::min(points_, dimension_); ++i) unknown += 1 - static_cast<double>(i) / dimension;
      return 1 - unknown / points;
    }
    constexpr std::uint64_t kSequences = 2000;
    RandomStream random(0, "in-context-regression level");
    std::vector<float> x(dimension_);
    double unknown = 0;
    for (std::uint64_t sequence = 0; sequence < kSequences; ++sequence) {
      Posterior known(dimension_, noise_);
      for (std::size_t i = 0; i < points_; ++i) {
        for (float& number : x) number = random.normal();
        unknown += known.variance(x);
        known.learn(x, 0);
      }
    }
    return 1 - unknown / (kSequences * points * (dimension + noise_ * noise_));
  }

  std::size_t dimension_;
  std::size_t points_;
  double noise_;
  double best_;
};

EUREKA_TASK("in-context-regression", InContextRegression, Options,
            "sequence: points and their values under a linear map that is another in every sequence");

}  // namespace
}  // namespace eureka
