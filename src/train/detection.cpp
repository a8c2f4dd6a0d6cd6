#include "train/detection.h"

#include <cmath>

namespace eureka {

DetectorOptions detector_options(const Task& task, const RunConfig& config) {
  DetectorOptions options;
  options.direction = Direction::up;
  options.plateau_level = task.plateau_accuracy();
  options.budget = static_cast<double>(config.train.steps);
  return options;
}

bool on_plateau_of(const Task& task, double accuracy) {
  const double level = task.plateau_accuracy();
  return std::abs(accuracy - level) < 0.25 * (1 - level);
}

}  // namespace eureka
