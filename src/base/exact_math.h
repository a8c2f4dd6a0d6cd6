// exp, log, sin, cos and pow whose bits are the same on every processor, with every compiler and every C library. The
// usual ones differ in the last bit between versions of libm and between its variants with and without FMA, and one bit
// is enough to send two training runs apart.
//
//   double penalty = exact::log(256.0);   // anything a run's results depend on: exact::, not std::
//
// Two promises:
// - The bits depend on the arguments only: nothing is used but IEEE double +, -, *, / (and no FMA).
// - They are those of the correctly rounded result (to nearest, ties to even), so they can be checked against MPFR and
//   any other correct library agrees. The float functions keep this for all 2^32 arguments, which were tried. The
//   double functions compute with a relative error below 2^-102 (pow: 2^-94) and would round wrongly only where the
//   exact result lies that close to the midpoint of two doubles: one argument in 2^48 (pow: 2^40), if results fall at
//   random. Powers that are midpoints, such as 3^34, are known by being within 2^-91 of one.
//
// Special values are those of C: log(0) = -inf, log(-1) = NaN, exp(-inf) = 0. Results may be subnormal.
#pragma once

namespace eureka::exact {

// Some 20 ns.
double exp(double x);
float exp(float x);
double log(double x);
float log(float x);

// |x| < 2^30, checked; NaN for infinities and NaN. A quarter of a microsecond.
double sin(double x);
double cos(double x);

// base >= 0, checked. A quarter of a microsecond.
double pow(double base, double exponent);

}  // namespace eureka::exact
