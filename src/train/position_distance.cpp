#include "train/position_distance.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "train/option_lists.h"

namespace eureka {

void set_position_distance(const PositionSetting& options, std::size_t before, StateTensor& positions) {
  const std::vector<int> first = parse_indices(options.first, "intervene.positions.first"),
                         second = parse_indices(options.second, "intervene.positions.second");
  const auto rows = static_cast<std::size_t>(positions.shape[0]), width = static_cast<std::size_t>(positions.shape[1]);
  const auto row_of = [&](int token) {
    const std::size_t row = static_cast<std::size_t>(token) + before;
    if (row >= rows)
      throw Error(ErrorKind::config, fmt::format("'intervene.positions' names token {}", token), {},
                  fmt::format("the model has {} tokens of the input, counted from 0", rows - before));
    return positions.values.data() + row * width;
  };
  double square = 0;
  for (std::size_t pair = 0; pair < first.size(); ++pair)
    for (std::size_t i = 0; i < width; ++i) {
      const double apart = static_cast<double>(row_of(first[pair])[i]) - static_cast<double>(row_of(second[pair])[i]);
      square += apart * apart;
    }
  const double now = std::sqrt(square / static_cast<double>(first.size() * width));
  if (now == 0 && options.distance > 0)
    throw Error(ErrorKind::config, "'intervene.positions' cannot move positions apart that are the same", {},
                "begin with other positions: model.init.positions above 0");
  const double factor = now > 0 ? options.distance / now : 0;
  for (std::size_t pair = 0; pair < first.size(); ++pair) {
    float *a = row_of(first[pair]), *b = row_of(second[pair]);
    for (std::size_t i = 0; i < width; ++i) {
      const double middle = (static_cast<double>(a[i]) + static_cast<double>(b[i])) / 2;
      const double half = factor * (static_cast<double>(a[i]) - static_cast<double>(b[i])) / 2;
      a[i] = static_cast<float>(middle + half);
      b[i] = static_cast<float>(middle - half);
    }
  }
}

}  // namespace eureka
