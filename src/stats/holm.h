// Holm's correction: p-values that stay honest when several arms are tested against one baseline.
#pragma once

#include <span>
#include <vector>

namespace eureka {

// In the order given. Rejecting those below alpha keeps the chance of any false rejection below alpha.
std::vector<double> holm_corrected(std::span<const double> p_values);

}  // namespace eureka
