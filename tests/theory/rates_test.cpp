// Predicted rates against worked values and against measured descent.
#include "theory/rates.h"

#include "theory/local_rate.h"
#include "theory/matrix_query_model.h"
#include "theory/optimizer.h"
#include "theory/support.h"
#include "theory/value_softmax_model.h"

namespace eureka::theory {
namespace {

// Until a loss that falls by rate^2 per step is at 1e-8 of its start.
double steps_at(double rate) { return std::log(1e-8) / (2 * std::log(rate)); }

TEST(Rates, StepsToALossOfOneInAHundredMillion) {  // O13
  const double kappas[] = {10, 100, 1000}, descent[] = {46, 461, 4606}, ball[] = {15, 46, 146};
  const double momentum[] = {.269873863612, .669421487603, .881144810964};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::ceil(steps_at(descent_rate(kappas[i]))), descent[i]);
    EXPECT_EQ(std::ceil(steps_at(heavy_ball_rate(kappas[i]))), ball[i]);
    EXPECT_NEAR(heavy_ball_momentum(kappas[i]), momentum[i], kOracle);
  }
  EXPECT_NEAR(ema_stability_limit(.9), 38, 1e-12);
}

TEST(Rates, AveragedMomentumIsStableJustBelowItsEdgeAndNotJustAbove) {  // O16
  for (const double beta : {0.0, .5, .9, .99}) {
    const auto size_after = [&](double factor) {
      double x = 1, m = 0;
      for (int i = 0; i < 20000 && std::abs(x) < 1e6; ++i) {
        m = beta * m + (1 - beta) * x;
        x -= factor * ema_stability_limit(beta) * m;
      }
      return std::abs(x);
    };
    EXPECT_LT(size_after(.999), 1e3);
    EXPECT_GE(size_after(1.001), 1e6);
  }
}

TEST(Rates, PredictedCurveIsTheRunOnAQuadratic) {
  const Vector lambda = vector_of({.01, .3, 1, 2}), error = vector_of({1, -2, .5, 3});
  const double eta = .7;
  const EigenSystem system = eigen_system(lambda.asDiagonal());
  const PredictedCurve curve(system, error, eta);
  Vector e = error;
  for (int k = 0; k < 50; ++k) {
    EXPECT_NEAR(curve.loss(k) / (0.5 * (lambda.array() * e.array().square()).sum()), 1, 1e-12);
    e -= eta * Vector(lambda.array() * e.array());
  }
  EXPECT_FALSE(PredictedCurve(system, error, 1.1).steps_to(1e-8)) << "diverges";
}

void expect_predicted(const LocalRate& rate) {
  EXPECT_LT(std::abs(rate.measured / rate.predicted - 1), .03);
  ASSERT_TRUE(rate.predicted_steps && rate.measured_steps);
  const double predicted = static_cast<double>(*rate.predicted_steps);
  EXPECT_LE(std::abs(static_cast<double>(*rate.measured_steps) - predicted), std::max(2.0, .01 * predicted));
}

TEST(LocalRate, OfGaussianLogitsIsThePredictedOne) {  // AT10, AT11
  for (const double tau : {8.0, 4.0, 2.0, 1.4, 1.0, .7, .5, .4, .3, .25, .2, .17}) {
    SCOPED_TRACE(testing::Message() << "tau " << tau);
    const Teacher teacher = gaussian_teacher({40, 12, 8, 1}, 1 / tau, 11);
    expect_predicted(measure_local_rate(student_of(teacher, {}), teacher.query, {}));
  }
}

TEST(LocalRate, OfPlantedLogitsIsThePredictedOne) {  // AT10, AT11
  for (const double delta : {.1, .03, .01})
    for (const Index q : {0, 4, 8, 12, 96}) {
      SCOPED_TRACE(testing::Message() << "q " << q << " delta " << delta);
      const Teacher teacher = planted_teacher({24, 8, 8, 2}, {q, delta}, 5);
      expect_predicted(measure_local_rate(student_of(teacher, {}), teacher.query, {}));
    }
}

TEST(LocalRate, HoldsAtAConditionOfThousands) {  // AT10, AT11
  const Teacher teacher = planted_teacher({24, 8, 8, 2}, {4, .002}, 5);
  const LocalRate rate = measure_local_rate(student_of(teacher, {}), teacher.query, {});
  EXPECT_GT(rate.spectrum.kappa(), 500);
  expect_predicted(rate);
}

TEST(LocalRate, OfHeavyBallIsAFewPerCentBelowItsAsymptote) {
  const Teacher teacher = planted_teacher({24, 8, 8, 2}, {4, .01}, 5);
  const LocalRate rate = measure_local_rate(student_of(teacher, {}), teacher.query, {.stop = 1e-8, .heavy_ball = true});
  EXPECT_GT(rate.measured / rate.predicted, .9);
  EXPECT_LT(rate.measured / rate.predicted, 1.02);
}

TEST(LocalRate, IgnoresStructuralNullDirections) {
  const Matrix v = normal_matrix(16, 8, 1, "v") / 4;
  const Vector z = 1.2 * normal_vector(8, 1, "z");
  const LocalRate logits = measure_local_rate(ValueSoftmaxModel(v, v * softmax(z)), z, {.seed = 3});
  EXPECT_EQ(logits.spectrum.nulls, 1);
  EXPECT_LT(std::abs(logits.measured / logits.predicted - 1), .03);

  const StackedKeys data{6, normal_matrix(24 * 6, 3, 1, "keys")};
  FactoredQueryModel factored(
      MatrixQueryModel(data, normal_matrix(3, 3, 1, "value weight"), {AttentionKind::softmax, std::sqrt(2)}), 2);
  const Vector at = 1.2 * normal_vector(factored.dimension(), 1, "factors");
  factored.set_targets(factored.outputs(at));
  const LocalRate gauge = measure_local_rate(factored, at, {.stop = 1e-6});
  EXPECT_EQ(gauge.spectrum.nulls, 4);
  EXPECT_LT(std::abs(gauge.measured / gauge.predicted - 1), .03);
}

}  // namespace
}  // namespace eureka::theory
