// Losses and curvatures of model A against an independent implementation: numbers printed by a numpy program written
// from the same formulas, on data that both sides make from sines.
#include <gtest/gtest.h>

#include <cmath>

#include "theory/shared_query_model.h"

namespace eureka::theory {
namespace {

constexpr Index kExamples = 7, kTokens = 6, kWidth = 4, kOutputs = 2;

Matrix wave(Index rows, Index columns, double phase) {
  return Matrix::NullaryExpr(rows, columns, [&](Index i, Index j) {
    const auto x = static_cast<double>(i), y = static_cast<double>(j);
    return std::sin(phase + 1.7 * x + 2.3 * y + 0.41 * x * y);
  });
}

StackedKeys keys() { return {kTokens, wave(kExamples * kTokens, kWidth, 1)}; }
Matrix values() { return wave(kExamples * kTokens, kOutputs, 2); }
Vector query() { return 1.5 * wave(kWidth, 1, 3); }
Matrix targets() { return wave(kExamples, kOutputs, 4); }

void expect_same(double ours, double reference) { EXPECT_NEAR(ours, reference, 1e-12 * (1 + std::abs(reference))); }

struct Reference {
  AttentionKind kind;
  double loss, gradient, gauss_newton, residual;  // Frobenius norms, values given
  double joint_hessian;                           // of w and V together
};

class AgainstNumpy : public ::testing::TestWithParam<Reference> {};

INSTANTIATE_TEST_SUITE_P(EveryKind, AgainstNumpy,
                         ::testing::Values(Reference{AttentionKind::softmax, 0.530387344127517, 0.327709780971363,
                                                     0.475771802162513, 0.198372799710479, 2.48848579730479},
                                           Reference{AttentionKind::linear, 13.2718456399495, 14.5177570444289,
                                                     13.7619521025547, 0, 212.245079509194},
                                           Reference{AttentionKind::sigmoid, 0.623863147795108, 0.236060307793959,
                                                     0.364153920788966, 0.0914143410168598, 4.60347904294547},
                                           Reference{AttentionKind::norm, 0.558942209430466, 0.230669812388691,
                                                     0.30721228755495, 0.339237789451296, 1.77751952816917},
                                           Reference{AttentionKind::norm_min, 0.550217968708808, 0.417830956816991,
                                                     0.750186426931251, 0.418869237587283, 2.90568840976661},
                                           Reference{AttentionKind::norm_max, 0.556778760795947, 0.238325926576865,
                                                     0.296663985156768, 0.293439860575885, 1.78683163835629}),
                         [](const auto& one) { return std::string(name_of(one.param.kind)); });

TEST_P(AgainstNumpy, LossGradientAndCurvature) {
  const Reference& reference = GetParam();
  SharedQueryModel model(keys(), values(), {reference.kind, 0.8, 1.3});
  model.set_targets(targets());
  const Curvature curvature = model.curvature(query());
  expect_same(curvature.loss, reference.loss);
  expect_same(curvature.gradient.norm(), reference.gradient);
  expect_same(curvature.gauss_newton.norm(), reference.gauss_newton);
  expect_same(curvature.residual.norm(), reference.residual);
}

TEST_P(AgainstNumpy, HessianOfQueryAndValuesTogether) {
  const Reference& reference = GetParam();
  SharedQueryModel model(keys(), kOutputs, {reference.kind, 0.8, 1.3});
  model.set_targets(targets());
  const Matrix value_weight = wave(kWidth, kOutputs, 5);
  Vector at(kWidth + kWidth * kOutputs);
  at.head(kWidth) = query();
  for (Index i = 0; i < kWidth; ++i)
    for (Index j = 0; j < kOutputs; ++j) at[kWidth + i * kOutputs + j] = value_weight(i, j);
  expect_same(model.curvature(at).hessian().norm(), reference.joint_hessian);
}

TEST(AgainstNumpyMetrics, FisherAndGram) {
  SharedQueryModel model(keys(), values(), {AttentionKind::softmax, 0.8, 1.3});
  model.set_targets(targets());
  expect_same(model.fisher(query()).norm(), 0.895949168369329);
  expect_same(model.attention_gram(query()).norm(), 0.25289965785795);
}

}  // namespace
}  // namespace eureka::theory
