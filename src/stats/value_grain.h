// What values tell of how they were made: shares of so many samples, or numbers rounded to so many digits.
#pragma once

#include <span>
#include <vector>

namespace eureka {

// What one sample makes of values that are shares of them, like accuracies: all are multiples of it. 0: they are not.
double one_sample_of(std::vector<double> values);

// Values written with few digits, as "%.4g" or "%.3f" leave them.
class Rounding {
 public:
  Rounding() = default;  // not rounded
  explicit Rounding(std::span<const double> values);

  // One unit in the last place of such a value; 0 if the values are not rounded, or too coarsely to be called so.
  double unit_at(double value) const;

 private:
  double least_ = 0;  // the smallest unit seen: that of a fixed number of decimals
  int digits_ = 0;    // the most digits seen
  bool is_rounded_ = false;
};

}  // namespace eureka
