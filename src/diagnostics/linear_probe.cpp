#include "diagnostics/linear_probe.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace eureka {

LinearProbe::LinearProbe(SmallMatrix features, double penalty)
    : mean_(features.columns),
      inverse_deviation_(features.columns),
      features_(std::move(features)),
      gram_(features_.columns, features_.columns) {
  const auto rows = static_cast<double>(features_.rows);
  for (std::size_t i = 0; i < features_.columns; ++i) {
    for (std::size_t row = 0; row < features_.rows; ++row) mean_[i] += features_(row, i) / rows;
    double square = 0;
    for (std::size_t row = 0; row < features_.rows; ++row) {
      const double away = features_(row, i) - mean_[i];
      square += away * away / rows;
    }
    // A feature that never changes says nothing.
    inverse_deviation_[i] = square > 0 ? 1 / std::sqrt(square) : 0;
  }
  standardize(features_);
  gram_ = transposed_product(features_, features_);
  double whole = 0;
  for (std::size_t i = 0; i < gram_.rows; ++i) whole += gram_(i, i);
  const auto width = static_cast<double>(gram_.rows);
  // Never singular, whatever the features and the penalty.
  const double added = std::max(penalty * whole / width, 1e-9 * whole / width) + 1e-300;
  for (std::size_t i = 0; i < gram_.rows; ++i) gram_(i, i) += added;
}

void LinearProbe::standardize(SmallMatrix& features) const {
  for (std::size_t row = 0; row < features.rows; ++row)
    for (std::size_t i = 0; i < features.columns; ++i)
      features(row, i) = (features(row, i) - mean_[i]) * inverse_deviation_[i];
}

double LinearProbe::accuracy(const std::vector<int>& classes, int class_count, SmallMatrix others,
                             const std::vector<int>& classes_of_others) const {
  const auto count = static_cast<std::size_t>(class_count);
  SmallMatrix targets(features_.rows, count);
  std::vector<double> share(count);
  for (std::size_t row = 0; row < features_.rows; ++row) {
    const auto index = static_cast<std::size_t>(classes[row]);
    targets(row, index) = 1;
    share[index] += 1 / static_cast<double>(features_.rows);
  }
  // Features have mean 0, so the constant of each class is its share.
  const SmallMatrix weights = solve_positive(gram_, transposed_product(features_, targets));
  standardize(others);
  double right = 0;
  for (std::size_t row = 0; row < others.rows; ++row) {
    std::vector<double> score = share;
    for (std::size_t i = 0; i < others.columns; ++i)
      for (std::size_t c = 0; c < count; ++c) score[c] += others(row, i) * weights(i, c);
    const auto said = std::max_element(score.begin(), score.end()) - score.begin();
    right += said == classes_of_others[row] ? 1 : 0;
  }
  return right / static_cast<double>(others.rows);
}

double commonest_share(const std::vector<int>& classes) {
  std::map<int, double> counts;
  double most = 0;
  for (const int one : classes) most = std::max(most, counts[one] += 1);
  return most / static_cast<double>(classes.size());
}

}  // namespace eureka
