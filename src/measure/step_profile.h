// Where the time of a step goes: a clock interrupts the work a few thousand times per second and notes the function it
// was in. Steps are measured as they are; nothing is built into them.
//
//   StepProfile profile;
//   profile.sample([&] { engine.train_step(batch, settings); });
//   for (const auto& [part, share] : profile.shares()) ...
//
// Requires: one thread; a program with its symbols; Linux on x86-64 or ARM64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace eureka {

class StepProfile {
 public:
  // Runs the work, interrupted all the while. Throws Error(failed) where that cannot be done.
  void sample(const std::function<void()>& work);

  // Parts of a step in a fixed order, and their shares of all interruptions, which add up to 1.
  std::vector<std::pair<std::string, double>> shares() const;

  // Where the work was: in a function of this program, or in one of another library (memcpy) called from `caller`.
  struct Place {
    std::uintptr_t function = 0;
    std::uintptr_t caller = 0;
  };

 private:
  std::vector<Place> places_;
};

}  // namespace eureka
