// What diagnostics of attention share: sums for every head of every layer, and the keys that a query sees.
//
//   PerHead<Sums> heads;
//   heads.at(view.layer, view.value(Point::weights).sizes[1])[head].entropy += ...;
//   heads.add(row, "entropy", [](const Sums& sums) { return sums.entropy / sums.rows; });
#pragma once

#include <map>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace eureka {

template <class Sums>
class PerHead {
 public:
  std::vector<Sums>& at(int layer, std::int64_t heads) {
    std::vector<Sums>& sums = layers_[layer];
    sums.resize(static_cast<std::size_t>(heads));
    return sums;
  }

  // number(sums) of every head, and their mean; one that is not finite is left out, and with it the mean.
  template <class Number>
  void add(NumberRow& row, const std::string& name, const Number& number) const {
    std::vector<double> values;
    for (const auto& [layer, heads] : layers_) {
      values.clear();
      for (const Sums& sums : heads) values.push_back(number(sums));
      row.add_heads(name, layer, values);
    }
  }

  const std::map<int, std::vector<Sums>>& layers() const { return layers_; }
  void clear() { layers_.clear(); }

 private:
  std::map<int, std::vector<Sums>> layers_;
};

// The keys that a query sees, found anew for every row.
class VisibleKeys {
 public:
  const std::vector<std::int64_t>& find(const MaskView& mask, std::int64_t sample, std::int64_t query,
                                        std::int64_t keys) {
    visible_.clear();
    for (std::int64_t key = 0; key < keys; ++key)
      if (mask.sees(sample, query, key)) visible_.push_back(key);
    return visible_;
  }

 private:
  std::vector<std::int64_t> visible_;
};

// Over all rows of one sample's head.
inline double square_of(const TensorView& tensor, std::int64_t sample, std::int64_t head) {
  double square = 0;
  for (std::int64_t row = 0; row < tensor.sizes[2]; ++row) {
    const float* values = tensor.row(sample, head, row);
    for (std::int64_t i = 0; i < tensor.sizes[3]; ++i)
      square += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return square;
}

// A mean that may turn out to be of nothing: then it is no number.
struct Mean {
  double sum = 0;
  double count = 0;

  void add(double value) {
    sum += value;
    count += 1;
  }
  double value() const { return sum / count; }
};

}  // namespace eureka
