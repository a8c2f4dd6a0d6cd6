#include "kernels/attention_rows.h"

#include <array>

#include "base/exact_math.h"

namespace eureka {

float log_of_count(float count) {
  constexpr std::size_t kKnown = 1024;
  static const std::array<float, kKnown> known = [] {
    std::array<float, kKnown> logs;
    for (std::size_t n = 0; n < kKnown; ++n) logs[n] = exact::log(static_cast<float>(n));
    return logs;
  }();
  return count < kKnown ? known[static_cast<std::size_t>(count)] : exact::log(count);
}

}  // namespace eureka
