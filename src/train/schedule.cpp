#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/exact_math.h"

namespace eureka {

double learning_rate(const TrainOptions& options, std::int64_t step) {
  const auto steps = static_cast<double>(options.steps);
  const double warmup = std::min(steps, options.warmup < 1 ? std::floor(options.warmup * steps) : options.warmup);
  const auto now = static_cast<double>(step);
  if (now < warmup) return options.min_lr + (options.lr - options.min_lr) * now / warmup;
  if (options.schedule == Schedule::constant) return options.lr;
  const double progress = (now - warmup) / std::max(1.0, steps - warmup);
  return options.min_lr +
         0.5 * (options.lr - options.min_lr) * (1 + exact::cos(std::numbers::pi * std::min(1.0, progress)));
}

}  // namespace eureka
