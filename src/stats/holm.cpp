#include "stats/holm.h"

#include <algorithm>
#include <numeric>

namespace eureka {

std::vector<double> holm_corrected(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto hypotheses_left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, hypotheses_left * p_values[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

}  // namespace eureka
