// The number that says how far a task is learned: declared by the task, read by the detector, the records of a run and
// the statistics of a study. None of them assumes an accuracy.
//
//   Metric::accuracy(0.55)                          0 to 1, up; without the hidden step one reaches 0.55
//   Metric::explained_variance(0, 0.8)              at most 1, up; negative for a model that is worse than none
//   Metric::bits("bits per character", 4.1, 1.2)    0 and more, down
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

namespace eureka {

enum class Better : std::uint8_t { higher, lower };

// How the metric follows from what an engine reports.
enum class Measure : std::uint8_t {
  score,  // with cross-entropy the share of right answers, with the squared loss the share of the squares explained
  bits,   // the cross-entropy of an answer in bits
};

struct Metric {
  std::string name = "accuracy";  // in words; in records key()
  Measure measure = Measure::score;
  Better better = Better::higher;
  double low = 0;  // what it can be at all; infinite where there is no bound
  double high = 1;
  // Of the best predictor that lacks the intermediate step; nothing where no plateau is expected.
  std::optional<double> plateau = {};
  // Where a model may already sit on the plateau that mistakes some of what it sees; nothing: at the plateau.
  std::optional<double> floor = {};
  double best = 1;  // what the oracle reaches
  // Of bits: how many answers there are to what they are told per, as tokens to a character.
  double answers_per_unit = 1;

  static Metric accuracy(std::optional<double> plateau, std::optional<double> floor = {}) {
    return {.plateau = plateau, .floor = floor};
  }
  static Metric explained_variance(std::optional<double> plateau, double best = 1) {
    return {.name = "explained variance", .low = -kUnbounded, .plateau = plateau, .best = best};
  }
  static Metric bits(std::string name, std::optional<double> plateau, double best) {
    return {std::move(name), Measure::bits, Better::lower, 0, kUnbounded, plateau, {}, best, 1};
  }

  // "explained_variance": metrics.jsonl has val_explained_variance, the summary final_validation_explained_variance.
  std::string key() const {
    std::string key = name;
    std::replace(key.begin(), key.end(), ' ', '_');
    return key;
  }

  // From the mean loss in nats and the mean score of an engine.
  double value(double loss, double score) const {
    return measure == Measure::bits ? loss / std::numbers::ln2 * answers_per_unit : score;
  }

  bool is_better(double a, double b) const { return better == Better::higher ? a > b : a < b; }

  // Within a quarter of the way from the plateau to the best: of a model that has not found the hidden step.
  bool on_plateau(double value) const {
    if (!plateau) return false;
    const double sign = better == Better::higher ? 1 : -1;
    const double reach = 0.25 * std::abs(best - *plateau);
    return sign * value < sign * *plateau + reach && sign * value > sign * floor.value_or(*plateau) - reach;
  }

  // Where a share of the way to some level counts from: the worst value there is, or else the plateau.
  double origin() const {
    const double worst = better == Better::higher ? low : high;
    return std::isfinite(worst) ? worst : plateau.value_or(0);
  }

  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
};

}  // namespace eureka
