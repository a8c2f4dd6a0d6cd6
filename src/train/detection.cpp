#include "train/detection.h"

#include <cmath>

namespace eureka {

DetectorOptions detector_options(const Task& task, const RunConfig& config) {
  DetectorOptions options;
  options.direction = Direction::up;
  options.plateau_level = task.plateau_accuracy();
  options.plateau_floor = task.plateau_floor();
  options.budget = static_cast<double>(config.train.steps);
  return options;
}

bool on_plateau_of(const Task& task, double accuracy) {
  const double level = task.plateau_accuracy(), reach = 0.25 * (1 - level);
  return accuracy < level + reach && accuracy > task.plateau_floor() - reach;
}

}  // namespace eureka
