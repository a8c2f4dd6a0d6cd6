// Where the time of a step goes: a clock interrupts the work a few thousand times per second and counts the part it was
// in, by the marks of base/work_part.h. Work without marks is "rest".
//
//   StepProfile profile;
//   profile.sample([&] { engine.train_step(batch, settings); });
//   for (const auto& [part, share] : profile.shares()) ...
//
// Requires: work on one thread, the caller's; Linux; one profile at a time in the process.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/work_part.h"

namespace eureka {

class StepProfile {
 public:
  // Runs the work, interrupted all the while. Throws Error(failed) where that cannot be done.
  void sample(const std::function<void()>& work);

  // Parts of a step in a fixed order, and their shares of all interruptions, which add up to 1.
  std::vector<std::pair<std::string, double>> shares() const;

 private:
  std::array<std::size_t, kWorkParts> interruptions_{};
};

}  // namespace eureka
