// The level of a predictor that knows what stands in the context but not where: it says what occurs most often.
#pragma once

#include <cstdint>

namespace eureka {

// Of `draws` independent draws from `values` equally likely values, the expected share of the one drawn most often.
double commonest_share(std::int64_t draws, std::int64_t values);

}  // namespace eureka
