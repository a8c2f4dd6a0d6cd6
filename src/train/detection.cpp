#include "train/detection.h"

namespace eureka {

DetectorOptions detector_options(const Task& task, const RunConfig& config) {
  const Metric metric = task.metric();
  DetectorOptions options;
  options.direction = metric.better == Better::higher ? Direction::up : Direction::down;
  options.plateau_level = metric.plateau;
  options.plateau_floor = metric.floor;
  options.budget = static_cast<double>(config.train.steps);
  return options;
}

}  // namespace eureka
