#include "engine/scale.h"

#include <algorithm>
#include <numbers>

#include "base/exact_math.h"

namespace eureka {

double scale_multiple(const ScaleOptions& options, std::int64_t step, std::int64_t total_steps) {
  const double progress =
      total_steps <= 0 ? 1.0 : std::clamp(static_cast<double>(step) / static_cast<double>(total_steps), 0.0, 1.0);
  const auto cosine = [&](double share) {
    return options.to + 0.5 * (options.from - options.to) * (1 + exact::cos(std::numbers::pi * std::min(1.0, share)));
  };
  switch (options.kind) {
    case ScaleKind::fixed:
    case ScaleKind::learned:
      return options.multiple;
    case ScaleKind::linear:
      return options.from + (options.to - options.from) * progress;
    case ScaleKind::cosine:
      return cosine(progress);
    case ScaleKind::half_cosine:
      return cosine(2 * progress);
  }
  return options.multiple;
}

}  // namespace eureka
