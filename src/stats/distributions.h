// The few distribution functions the statistics need.
#pragma once

#include <cstddef>

namespace eureka {

double normal_cdf(double z);
double normal_quantile(double probability);      // 0 < probability < 1
double chi_square_tail(double x);                // P(X > x), one degree of freedom
double chi_square_quantile(double probability);  // one degree of freedom
double student_t_cdf(double t, double degrees);  // degrees > 0
double student_t_quantile(double probability, double degrees);
double fair_coin_cdf(std::size_t heads, std::size_t tosses);  // P(at most `heads`)

}  // namespace eureka
