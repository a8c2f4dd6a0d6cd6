// A linear classifier in closed form: ridge regression of one-hot classes on standardized features.
//
//   LinearProbe probe(features_of_first_half, 1e-2);
//   double share = probe.accuracy(classes_of_first_half, 10, features_of_second_half, classes_of_second_half);
#pragma once

#include <vector>

#include "diagnostics/small_matrix.h"

namespace eureka {

class LinearProbe {
 public:
  // Rows are samples. The penalty is that times the mean squared singular value of the standardized features.
  LinearProbe(SmallMatrix features, double penalty);

  // Fitted to the classes of the samples it was made of; the share of other samples that it names right.
  double accuracy(const std::vector<int>& classes, int class_count, SmallMatrix others,
                  const std::vector<int>& classes_of_others) const;

 private:
  void standardize(SmallMatrix& features) const;

  std::vector<double> mean_, inverse_deviation_;
  SmallMatrix features_, gram_;
};

// Of the most common class.
double commonest_share(const std::vector<int>& classes);

}  // namespace eureka
