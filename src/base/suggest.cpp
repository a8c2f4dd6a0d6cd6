#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eureka {

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows are enough for the optimal-string-alignment distance.
  std::vector<int> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const int allowed = std::max<int>(1, static_cast<int>(name.size()) / 3);
  std::string best;
  int best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  if (candidates.empty()) return {};
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace eureka
