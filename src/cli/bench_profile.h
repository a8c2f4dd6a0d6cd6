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

namespace eureka::cli {

class StepProfile {
 public:
  // Runs the work, interrupted all the while. Throws Error(failed) where that cannot be done.
  void sample(const std::function<void()>& work);

  // Parts of a step in a fixed order, and their shares of all interruptions, which add up to 1.
  std::vector<std::pair<std::string, double>> shares() const;

 private:
  std::vector<std::uintptr_t> places_;
};

}  // namespace eureka::cli
