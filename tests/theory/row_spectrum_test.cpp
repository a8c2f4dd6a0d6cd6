// Eigenvalues by the secular equation and bounds without eigenvalues, against closed forms and a dense solver.
#include "theory/row_spectrum.h"

#include "theory/spectrum.h"
#include "theory/support.h"

namespace eureka::theory {
namespace {

Vector log_of(std::initializer_list<double> a) { return vector_of(a).array().log(); }

void expect_eigenvalues(const Vector& log_weights, std::initializer_list<double> expected, double tolerance = kOracle) {
  EXPECT_LT(largest_difference(RowSpectrum(log_weights).eigenvalues(), vector_of(expected)), tolerance);
}

TEST(RowSpectrum, OfAWorkedRow) {  // O1
  expect_eigenvalues(log_of({.7, .2, .1}), {0, .125596934910895, .334403065089105}, 1e-14);
}

TEST(RowSpectrum, ClosedForms) {  // O5, O6
  expect_eigenvalues(log_of({.25, .25, .25, .25}), {0, .25, .25, .25});
  expect_eigenvalues(log_of({.96, .01, .01, .01, .01}), {0, .01, .01, .01, .048});
  expect_eigenvalues(log_of({.45, .45, .05, .05}), {0, .05, .09, .45});
  expect_eigenvalues(log_of({.9, .1}), {0, .18});
}

TEST(RowSpectrum, OfAGeometricRow) {  // O15
  const Vector a = log_softmax(1.5 * Vector::LinSpaced(8, 0, 7));
  const RowSpectrum spectrum(a);
  EXPECT_NEAR(spectrum.eigenvalue(1) / 2.42772423988e-5, 1, kOracle);
  EXPECT_NEAR(spectrum.eigenvalue(7), .295135852106, kOracle);
  EXPECT_NEAR(std::exp(spectrum.log_kappa()) / 12156.8935737, 1, kOracle);
  const RowStatistics s = row_statistics(a);
  EXPECT_NEAR(std::exp(s.log_smallest.low) / 2.13923684e-5, 1, 1e-8);
  EXPECT_NEAR(std::exp(s.log_smallest.high) / 2.44478981e-5, 1, 1e-8);
  EXPECT_NEAR(std::exp(s.log_largest.low), .292984879, 1e-9);
  EXPECT_NEAR(std::exp(s.log_largest.high), .295789976, 1e-9);
  EXPECT_NEAR(s.log_pseudo_determinant, -41.940368975874, kOracle);
}

TEST(RowSpectrum, StatisticsOfAWorkedRow) {  // O2
  const Vector a = log_of({.7, .2, .1});
  const RowStatistics s = row_statistics(a);
  EXPECT_NEAR(s.trace, .46, kOracle);
  EXPECT_NEAR(s.frobenius * s.frobenius, .1276, kOracle);
  EXPECT_NEAR(s.cube_trace, .039376, kOracle);
  EXPECT_NEAR(std::exp(s.log_pseudo_determinant), .042, kOracle);
  EXPECT_NEAR(std::exp(RowSpectrum(a).log_kappa()), 2.662509760500, kOracle);
  EXPECT_NEAR(s.effective_rank, 1.658307210031, kOracle);
  EXPECT_NEAR(std::exp(s.log_smallest.low), .1, kOracle);
  EXPECT_NEAR(std::exp(s.log_smallest.high), .135, kOracle);
  EXPECT_NEAR(std::exp(s.log_largest.low), .325, kOracle);
  EXPECT_NEAR(std::exp(s.log_largest.high), .340207485812, kOracle);
  EXPECT_NEAR(s.entropy, .801818552543, kOracle);
  EXPECT_NEAR(s.participation, 1 / .54, kOracle);
}

TEST(RowSpectrum, AgreesWithADenseSolver) {
  for_random_logits([](const Vector& z) {
    const Vector dense = eigenvalues(jacobian(softmax(z)));
    EXPECT_LT(largest_difference(RowSpectrum(log_softmax(z)).eigenvalues(), dense), 2e-15);
  });
}

TEST(RowSpectrum, InterlacesAndKeepsItsMoments) {  // J4, J5, J9, O16
  for_random_logits([](const Vector& z) {
    const Vector log_a = log_softmax(z);
    const RowSpectrum spectrum(log_a);
    Vector sorted = log_a;
    std::sort(sorted.begin(), sorted.end());
    double log_determinant = 0;
    for (Index k = 1; k < spectrum.size(); ++k) {
      EXPECT_GE(spectrum.log_eigenvalue(k), sorted[k - 1] * (1 + 1e-15));
      EXPECT_LE(spectrum.log_eigenvalue(k), sorted[k] + 1e-15);
      log_determinant += spectrum.log_eigenvalue(k);
    }
    const RowStatistics s = row_statistics(log_a);
    const Vector values = spectrum.eigenvalues();
    const auto near = [](double a, double b) { EXPECT_LE(std::abs(a - b), 1e-12 * std::abs(b) + 1e-300); };
    near(values.sum(), s.trace);
    near(values.stableNorm(), s.frobenius);
    near(values.array().cube().sum(), s.cube_trace);
    near(log_determinant, s.log_pseudo_determinant);
  });
}

TEST(RowSpectrum, BoundsHoldForEveryRow) {  // J6, J7, J8
  for_random_logits([](const Vector& z) {
    const Vector log_a = log_softmax(z);
    const RowSpectrum spectrum(log_a);
    const RowStatistics s = row_statistics(log_a);
    const double slack = 1e-13 * std::max(1.0, std::abs(log_a.minCoeff()));
    const auto within = [&](double value, const Bounds& bounds) {
      EXPECT_GE(value, bounds.low - slack);
      EXPECT_LE(value, bounds.high + slack);
    };
    within(spectrum.log_eigenvalue(1), s.log_smallest);
    within(spectrum.log_eigenvalue(spectrum.size() - 1), s.log_largest);
    within(spectrum.log_kappa(), s.log_kappa);
    EXPECT_LE(std::exp(s.log_largest.high), 0.5 + 1e-15);
    EXPECT_GE(s.effective_rank, 1 - 1e-12);
    EXPECT_LE(s.effective_rank, static_cast<double>(s.tokens) - 1 + 1e-12);
  });
}

TEST(RowSpectrum, SurvivesUnderflow) {
  // Weights 1, e^-800, e^-802: all but the first are 0 in float64. In units of the second, to first order in it, the
  // two eigenvalues have the sum tr J = 2 (1 + u) and the product T prod a = 3 u, u = e^-2.
  const Vector log_a = log_softmax(vector_of({0, -800, -802}));
  const RowSpectrum spectrum(log_a);
  const double u = std::exp(-2.0), trace = 2 * (1 + u), determinant = 3 * u;
  const double large = 0.5 * (trace + std::sqrt(trace * trace - 4 * determinant)), small = determinant / large;
  EXPECT_NEAR(spectrum.log_eigenvalue(2), -800 + std::log(large), 1e-12);
  EXPECT_NEAR(spectrum.log_eigenvalue(1), -800 + std::log(small), 1e-12);
  const RowStatistics s = row_statistics(log_a);
  EXPECT_NEAR(s.effective_rank, trace * trace / (large * large + small * small), 1e-12);
  EXPECT_EQ(s.trace, 0) << "the value itself underflows; its ratios do not";
}

TEST(RowSpectrum, KappaGrowsExponentiallyInTheInverseTemperature) {  // J8
  const Vector z = vector_of({0, -.1, -1});
  const auto log_kappa = [&](double tau) { return RowSpectrum(log_softmax(z, tau)).log_kappa(); };
  EXPECT_NEAR((log_kappa(1e-3) - log_kappa(2e-3)) / (0.9 / 1e-3 - 0.9 / 2e-3), 1, 1e-3);
  EXPECT_NEAR(log_kappa(1e6), 0, 1e-5);
}

TEST(RowSpectrum, EdgeCases) {
  const RowSpectrum one(log_of({1}));
  EXPECT_EQ(one.size(), 1);
  EXPECT_EQ(one.eigenvalue(0), 0);
  EXPECT_TRUE(std::isnan(one.log_kappa()));
  EXPECT_EQ(row_statistics(log_of({1})).trace, 0);
  EXPECT_EQ(RowSpectrum(log_of({.99, .01})).log_kappa(), 0) << "two tokens: one direction";
  const RowSpectrum zero(log_of({.6, .4, 0}));
  expect_eigenvalues(log_of({.6, .4, 0}), {0, 0, .48});
  EXPECT_EQ(zero.log_kappa(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(row_statistics(log_of({1, 0, 0})).trace, 0);
  expect_eigenvalues(log_of({1, 0, 0}), {0, 0, 0});
}

}  // namespace
}  // namespace eureka::theory
