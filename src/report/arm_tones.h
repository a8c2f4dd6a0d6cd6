// The same arm looks the same in every figure of a report, and the baseline stands out.
//
//   ArmTones tones;
//   tones.set_baseline("softmax");
//   tones.of("qk_norm")                  its color and dashes; the next free ones when it is met for the first time
#pragma once

#include <map>
#include <string>

#include "figure/chart.h"

namespace eureka {

class ArmTones {
 public:
  void set_baseline(const std::string& arm);
  figure::Tone of(const std::string& arm);

 private:
  std::map<std::string, figure::Tone> known_;
  std::size_t next_ = 0;
};

// Thin and pale: a single seed behind the median of its arm.
figure::Tone behind(figure::Tone tone);

}  // namespace eureka
