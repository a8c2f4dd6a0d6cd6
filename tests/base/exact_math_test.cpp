#include "base/exact_math.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "base/exact_paths.h"
#include "base/random.h"

namespace eureka {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// MPFR's correctly rounded result in the format of T, subnormals included.
template <class T>
class Oracle {
 public:
  Oracle() {
    using Limits = std::numeric_limits<T>;
    mpfr_set_emin(Limits::min_exponent - Limits::digits + 1);
    mpfr_set_emax(Limits::max_exponent);
    mpfr_inits2(53, x_, y_, static_cast<mpfr_ptr>(nullptr));
    mpfr_init2(result_, Limits::digits);
  }
  ~Oracle() { mpfr_clears(x_, y_, result_, static_cast<mpfr_ptr>(nullptr)); }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  template <class Function>
  T operator()(Function function, T x) {
    set(x_, x);
    return rounded(function(result_, x_, MPFR_RNDN));
  }
  T pow(T x, T y) {
    set(x_, x);
    set(y_, y);
    return rounded(mpfr_pow(result_, x_, y_, MPFR_RNDN));
  }

 private:
  static void set(mpfr_t to, T value) { mpfr_set_d(to, static_cast<double>(value), MPFR_RNDN); }
  T rounded(int direction) {
    mpfr_subnormalize(result_, direction, MPFR_RNDN);
    return static_cast<T>(mpfr_get_d(result_, MPFR_RNDN));
  }

  mpfr_t x_, y_, result_;
};

// Counts instead of one line per argument: a slip in a path makes thousands.
template <class T>
class Mismatches {
 public:
  void compare(T got, T expected, T x, T y = 0) {
    if (std::signbit(got) == std::signbit(expected) && got == expected) return;
    if (++count_ == 1) ADD_FAILURE() << std::hexfloat << "at " << x << ", " << y << ": " << got << ", not " << expected;
  }
  ~Mismatches() { EXPECT_EQ(count_, 0); }

 private:
  int count_ = 0;
};

// One draw per statement: compilers differ in the order of those within one.
class Arguments {
 public:
  explicit Arguments(std::uint64_t seed) : random_(seed, "exact-math") {}
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  double whole(std::uint32_t below) { return random_.below(below); }
  // Any bits of the mantissa, an exponent from low to high, either sign.
  double of_size(int low, int high) {
    const double mantissa = between(1, 2);
    const double size = std::ldexp(mantissa, exponent(low, high));
    return random_.chance(0.5) ? size : -size;
  }
  // A few leading bits only: where the terms of a series are on the edges of the rounding too.
  double short_of_size(int low, int high) {
    const double leading = whole(256) - 128;
    return std::ldexp(leading, exponent(low, high) - 7);
  }

 private:
  int exponent(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<std::uint32_t>(high - low + 1)));
  }

  RandomStream random_;
};

using Generator = std::function<double(Arguments&)>;

template <class T, class Function>
void expect_correct(T (*ours)(T), Function reference, const std::vector<Generator>& generators, int count_of_each) {
  Oracle<T> oracle;
  Arguments arguments(1);
  Mismatches<T> mismatches;
  for (const Generator& generator : generators) {
    for (int i = 0; i < count_of_each; ++i) {
      const T x = static_cast<T>(generator(arguments));
      mismatches.compare(ours(x), oracle(reference, x), x);
    }
  }
}

const std::vector<Generator> kExpArguments = {
    [](Arguments& a) { return a.between(-20, 20); },      [](Arguments& a) { return a.between(-746, 710); },
    [](Arguments& a) { return a.between(-745.2, -708); },  // subnormal results
    [](Arguments& a) { return a.of_size(-70, -1); },      [](Arguments& a) { return a.short_of_size(-60, 9); },
};
const std::vector<Generator> kLogArguments = {
    [](Arguments& a) { return a.between(0, 100); },      [](Arguments& a) { return std::abs(a.of_size(-1074, 1023)); },
    [](Arguments& a) { return 1 + a.of_size(-53, -2); }, [](Arguments& a) { return 1 + a.short_of_size(-46, -2); },
    [](Arguments& a) { return 1 + a.whole(1'000'000); },
};
const std::vector<Generator> kAngles = {
    [](Arguments& a) { return a.between(-7, 7); },
    [](Arguments& a) { return a.between(-1e6, 1e6); },
    [](Arguments& a) { return a.of_size(-40, 29); },
    [](Arguments& a) { return a.whole(680'000'000) * (std::numbers::pi / 2); },  // near a zero of one of the two
    [](Arguments& a) { return a.short_of_size(-30, 29); },
};
const std::vector<Generator> kFloatExpArguments = {
    [](Arguments& a) { return a.between(-20, 20); },
    [](Arguments& a) { return a.between(-105, 89); },
    [](Arguments& a) { return a.of_size(-40, -1); },
};
const std::vector<Generator> kFloatLogArguments = {
    [](Arguments& a) { return a.between(1e-6, 100); },
    [](Arguments& a) { return std::abs(a.of_size(-149, 126)); },
    [](Arguments& a) { return 1 + a.of_size(-24, -2); },
};

TEST(ExactMath, ExpIsCorrectlyRounded) { expect_correct<double>(exact::exp, mpfr_exp, kExpArguments, 40'000); }
TEST(ExactMath, LogIsCorrectlyRounded) { expect_correct<double>(exact::log, mpfr_log, kLogArguments, 40'000); }
TEST(ExactMath, SinIsCorrectlyRounded) { expect_correct<double>(exact::sin, mpfr_sin, kAngles, 40'000); }
TEST(ExactMath, CosIsCorrectlyRounded) { expect_correct<double>(exact::cos, mpfr_cos, kAngles, 40'000); }
TEST(ExactMath, FloatExpIsCorrectlyRounded) { expect_correct<float>(exact::exp, mpfr_exp, kFloatExpArguments, 70'000); }
TEST(ExactMath, FloatLogIsCorrectlyRounded) { expect_correct<float>(exact::log, mpfr_log, kFloatLogArguments, 70'000); }

struct PowArguments {
  Generator base, exponent;
};

const std::vector<PowArguments> kPowArguments = {
    {[](Arguments& a) { return 1 - std::abs(a.of_size(-30, -2)); },
     [](Arguments& a) { return a.whole(1'000'000'000); }},
    {[](Arguments&) { return 10000.0; }, [](Arguments& a) { return -a.between(0, 1); }},
    {[](Arguments& a) { return std::abs(a.of_size(-1074, 1023)); }, [](Arguments& a) { return a.between(-3, 3); }},
    {[](Arguments& a) { return 1 + a.short_of_size(-46, -2); }, [](Arguments& a) { return a.short_of_size(-3, 5); }},
    // Exact results and ties; powers of two at both ends of the range.
    {[](Arguments& a) { return a.whole(200); }, [](Arguments& a) { return a.whole(80) / 4; }},
    {[](Arguments& a) { return a.whole(1 << 28); }, [](Arguments&) { return 2.0; }},
    {[](Arguments&) { return 2.0; }, [](Arguments& a) { return a.whole(4400) / 2 - 1100; }},
};

TEST(ExactMath, PowIsCorrectlyRounded) {
  Oracle<double> oracle;
  Arguments arguments(1);
  Mismatches<double> mismatches;
  for (const PowArguments& generators : kPowArguments) {
    for (int i = 0; i < 30'000; ++i) {
      const double base = generators.base(arguments);
      const double exponent = generators.exponent(arguments);
      mismatches.compare(exact::pow(base, exponent), oracle.pow(base, exponent), base, exponent);
    }
  }
}

// Arguments whose results are 2^-35 to 2^-46 units in the last place from a midpoint of two doubles; found by a search
// over some 10^12 arguments of each function. Rounding them takes the accurate path and up to 99 of its bits.
TEST(ExactMath, HardCasesAreCorrectlyRounded) {
  Oracle<double> oracle;
  Mismatches<double> mismatches;
  for (const double x : {-0x1.22c89d049bb67p+0, 0x1.db5973e57b70ap+1, -0x1.bd8e326359144p+1, 0x1.49c3906bb1f12p-4,
                         -0x1.f7252ad56bf3fp+0, 0x1.861f1569a2524p+3})
    mismatches.compare(exact::exp(x), oracle(mpfr_exp, x), x);
  for (const double x : {0x1.8b78863447791p-56, 0x1.5726a9255fdadp-92, 0x1.5f079acfd9ae7p+31, 0x1.5eb42832ac717p-41,
                         0x1.2cf5acda750b9p-65, 0x1.713a561873881p+49})
    mismatches.compare(exact::log(x), oracle(mpfr_log, x), x);
  for (const double x : {0x1.a9332f954bb48p-6, -0x1.5709ab374e128p-1, -0x1.339bef0f2e2f2p-2, -0x1.77adc91193962p-7,
                         0x1.f7b10ce56df0ap+2, 0x1.84a6c7bfc6ff8p-8})
    mismatches.compare(exact::sin(x), oracle(mpfr_sin, x), x);
  for (const double x : {0x1.2f8b79a86c14ep+0, 0x1.2e9d8b6ac6e6ep-8, -0x1.b2fc772f94acdp+1, 0x1.e2668b8a3b38ap-2,
                         0x1.9700b0d0c0f88p+0, -0x1.a31d939de69aap-4})
    mismatches.compare(exact::cos(x), oracle(mpfr_cos, x), x);
  for (const double x : {0x1.1918546cb5b5dp+8, 0x1.98443aec1316p+9, 0x1.359dfa77d6ec2p+9, 0x1.5ff70f22cb0b6p+9,
                         0x1.829861ca5d737p+7, 0x1.de4c447bcec66p+8})
    mismatches.compare(exact::pow(x, 1.0 / 3), oracle.pow(x, 1.0 / 3), x);
}

// The relative error of what a path computed of x, times 2^exponent, against 200 bits of MPFR.
template <class Function>
double relative_error(Function function, double x, DoubleDouble computed, int exponent = 0) {
  // An oracle may have left a narrower range.
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_t exact, error;
  mpfr_inits2(200, exact, error, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(error, x, MPFR_RNDN);
  function(exact, error, MPFR_RNDN);
  mpfr_mul_2si(exact, exact, -exponent, MPFR_RNDN);
  mpfr_sub_d(error, exact, computed.high, MPFR_RNDN);
  mpfr_sub_d(error, error, computed.low, MPFR_RNDN);
  mpfr_div(error, error, exact, MPFR_RNDN);
  const double result = std::abs(mpfr_get_d(error, MPFR_RNDN));
  mpfr_clears(exact, error, static_cast<mpfr_ptr>(nullptr));
  return result;
}

TEST(ExactMath, AccuratePathsKeepTheirPromise) {
  Arguments arguments(4);
  double of_exp = 0, of_log = 0, of_sin = 0, of_cos = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double power = arguments.between(-700, 700);
    const auto [value, exponent] = exact::accurate_exp({power});
    of_exp = std::max(of_exp, relative_error(mpfr_exp, power, value, exponent));
    const double x = i % 2 == 0 ? arguments.between(0.6, 1.6) : std::abs(arguments.of_size(-1022, 1023));
    of_log = std::max(of_log, relative_error(mpfr_log, x, exact::accurate_log(x)));
    const double angle = i % 2 == 0 ? arguments.between(-7, 7) : arguments.whole(680'000'000) * (std::numbers::pi / 2);
    of_sin = std::max(of_sin, relative_error(mpfr_sin, angle, exact::accurate_sin(angle)));
    of_cos = std::max(of_cos, relative_error(mpfr_cos, angle, exact::accurate_cos(angle)));
  }
  EXPECT_LT(of_exp, 0x1.0p-102);
  EXPECT_LT(of_log, 0x1.0p-102);
  EXPECT_LT(of_sin, 0x1.0p-102);
  EXPECT_LT(of_cos, 0x1.0p-102);
}

TEST(ExactMath, FastAndAccuratePathsAgree) {
  Arguments arguments(2);
  const auto difference = [](DoubleDouble a, DoubleDouble b) {
    return std::abs((a.high - b.high) + (a.low - b.low)) / std::abs(b.high);
  };
  double worst_log = 0, worst_exp = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? arguments.between(0.6, 1.6) : std::abs(arguments.of_size(-1022, 1023));
    worst_log = std::max(worst_log, difference(exact::fast_log(x), exact::accurate_log(x)));
    const double power = i % 2 == 0 ? arguments.between(-1, 1) : arguments.between(-708, 708);
    const exact::Scaled fast = exact::fast_exp(power), accurate = exact::accurate_exp({power});
    ASSERT_EQ(fast.exponent, accurate.exponent);
    worst_exp = std::max(worst_exp, difference(fast.value, accurate.value));
  }
  EXPECT_LT(worst_log, exact::kFastError / 4);
  EXPECT_LT(worst_exp, exact::kFastError / 4);
}

TEST(ExactMath, SpecialValuesAreThoseOfC) {
  EXPECT_EQ(exact::exp(0.0), 1);
  EXPECT_EQ(exact::exp(kInfinity), kInfinity);
  EXPECT_EQ(exact::exp(-kInfinity), 0);
  EXPECT_EQ(exact::exp(1e300), kInfinity);
  EXPECT_EQ(exact::exp(709.79), kInfinity);
  EXPECT_EQ(exact::exp(-1e300), 0);
  EXPECT_TRUE(std::isnan(exact::exp(kNan)));
  EXPECT_EQ(exact::exp(1e30F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exact::exp(-1e30F), 0);
  EXPECT_EQ(exact::exp(89.0F), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(exact::exp(std::nanf(""))));

  EXPECT_EQ(exact::log(1.0), 0);
  EXPECT_EQ(exact::log(0.0), -kInfinity);
  EXPECT_EQ(exact::log(-0.0), -kInfinity);
  EXPECT_EQ(exact::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exact::log(-1.0)));
  EXPECT_TRUE(std::isnan(exact::log(-kInfinity)));
  EXPECT_TRUE(std::isnan(exact::log(kNan)));
  EXPECT_EQ(exact::log(1.0F), 0);
  EXPECT_EQ(exact::log(0.0F), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(exact::log(-1.0F)));

  EXPECT_EQ(exact::cos(0.0), 1);
  EXPECT_EQ(exact::sin(0.0), 0);
  EXPECT_TRUE(std::signbit(exact::sin(-0.0)));
  EXPECT_EQ(exact::sin(-5e-324), -5e-324);
  EXPECT_TRUE(std::isnan(exact::sin(kInfinity)));
  EXPECT_TRUE(std::isnan(exact::cos(kNan)));

  EXPECT_EQ(exact::pow(0.0, 3), 0);
  EXPECT_EQ(exact::pow(0.0, -3), kInfinity);
  EXPECT_EQ(exact::pow(0.0, 0), 1);
  EXPECT_EQ(exact::pow(kNan, 0), 1);
  EXPECT_EQ(exact::pow(1.0, kNan), 1);
  EXPECT_EQ(exact::pow(kInfinity, 0.5), kInfinity);
  EXPECT_EQ(exact::pow(kInfinity, -0.5), 0);
  EXPECT_EQ(exact::pow(0.5, kInfinity), 0);
  EXPECT_EQ(exact::pow(0.5, -kInfinity), kInfinity);
  EXPECT_EQ(exact::pow(2.0, 5e-324), 1);
  EXPECT_TRUE(std::isnan(exact::pow(2.0, kNan)));
}

TEST(ExactMath, ArgumentsOutsideTheDomainAreOurBugs) {
  EXPECT_THROW(exact::sin(0x1.0p30), InternalError);
  EXPECT_THROW(exact::cos(-0x1.0p30), InternalError);
  EXPECT_THROW(exact::pow(-1, 2), InternalError);
}

// What a machine without MPFR is checked by: FNV-1a over the bits of results.
TEST(ExactMath, BitsAreTheSameOnEveryMachine) {
  std::uint64_t digest = hash_name("");
  const auto add = [&](double result) { digest = (digest ^ std::bit_cast<std::uint64_t>(result)) * 0x100000001b3U; };
  Arguments arguments(3);
  const auto add_all = [&](auto function, const std::vector<Generator>& generators) {
    for (const Generator& generator : generators)
      for (int i = 0; i < 2000; ++i) add(function(generator(arguments)));
  };
  add_all([](double x) { return exact::exp(x); }, kExpArguments);
  add_all([](double x) { return exact::log(x); }, kLogArguments);
  add_all([](double x) { return exact::sin(x); }, kAngles);
  add_all([](double x) { return exact::cos(x); }, kAngles);
  add_all([](double x) { return exact::exp(static_cast<float>(x)); }, kFloatExpArguments);
  add_all([](double x) { return exact::log(static_cast<float>(x)); }, kFloatLogArguments);
  for (const PowArguments& generators : kPowArguments) {
    for (int i = 0; i < 2000; ++i) {
      const double base = generators.base(arguments);
      add(exact::pow(base, generators.exponent(arguments)));
    }
  }
  EXPECT_EQ(digest, 12665523414110439145U);
}

}  // namespace
}  // namespace eureka
