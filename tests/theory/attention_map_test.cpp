// Every attention map: worked values, and derivatives against finite differences of the map itself.
#include "theory/attention_map.h"

#include <Eigen/SVD>

#include "base/error.h"
#include "theory/row_spectrum.h"
#include "theory/spectrum.h"
#include "theory/support.h"

namespace eureka::theory {
namespace {

const Vector kLogits = vector_of({1, 2, 4});

Matrix dense(const AttentionPoint& point) {
  return point.apply(Matrix::Identity(point.weights.size(), point.weights.size()));
}

TEST(AttentionMap, NormOfAWorkedRow) {  // O7
  const AttentionPoint point = AttentionMap{AttentionKind::norm}.at(kLogits);
  EXPECT_LT(largest_difference(point.weights, vector_of({.069872238763, .155781150304, .774346610934})), kOracle);
  const Matrix phi = dense(point);
  EXPECT_LT(
      largest_difference(phi, matrix_of(3, {.012430994615, -.018646491923, .006215497308, -.061501200016, .092251800024,
                                            -.030750600008, .049070205401, -.073605308102, .024535102701})),
      kOracle);
  const Vector singular = Eigen::JacobiSVD<Eigen::MatrixXd>(phi).singularValues();
  EXPECT_LT(largest_difference(singular, vector_of({.149019606127, 0, 0})), kOracle);
  const Vector n = (kLogits.array() - kLogits.mean()).matrix().normalized();
  EXPECT_LT((phi * n).norm(), 1e-15);
  EXPECT_LT((phi * Vector::Ones(3)).norm(), 1e-15);
}

TEST(AttentionMap, SoftmaxAtTemperatureTwo) {  // O8
  const AttentionPoint point = AttentionMap{AttentionKind::softmax, 2}.at(kLogits);
  EXPECT_LT(largest_difference(point.weights, vector_of({.140244383166, .231223897622, .628531719212})), kOracle);
  EXPECT_LT(largest_difference(eigenvalues(dense(point)), vector_of({0, .084063619684, .181843830367})), kOracle);
}

TEST(AttentionMap, SigmoidWithItsOwnBias) {  // O9
  const AttentionPoint point = AttentionMap{AttentionKind::sigmoid}.at(kLogits);
  EXPECT_LT(largest_difference(point.weights, vector_of({.475366886419, .711234594228, .947914993828})), kOracle);
  EXPECT_LT(largest_difference(dense(point).diagonal(), vector_of({.249393209715, .205379946202, .049372158304})),
            kOracle);
}

TEST(AttentionMap, DerivativesMatchFiniteDifferences) {
  std::uint64_t seed = 10;
  for (const AttentionKind kind : kAttentionKinds)
    for (const double temperature : {0.01, 0.7, 1.0, 50.0})  // both branches of norm_min and norm_max
      for (const double epsilon : {0.0, 0.5}) {
        if (temperature == 0.01 && (kind == AttentionKind::softmax || kind == AttentionKind::linear ||
                                    kind == AttentionKind::sigmoid || kind == AttentionKind::norm_min))
          continue;  // all weights 0 or 1: differences measure rounding
        SCOPED_TRACE(testing::Message() << name_of(kind) << " tau " << temperature << " epsilon " << epsilon);
        const AttentionMap map{kind, temperature, 1.3, epsilon};
        const Index n = 6;
        const Vector s = 1.5 * normal_vector(n, ++seed, "s"), c = normal_vector(n, seed, "c");
        const AttentionPoint point = map.at(s);
        const Matrix phi = dense(point), eye = Matrix::Identity(n, n);
        const Matrix second = point.apply_second(c, eye);
        EXPECT_LT(relative_difference(point.apply_transposed(eye), phi.transpose()), 1e-13);
        const double h = 1e-6;
        Matrix phi_by_difference(n, n), second_by_difference(n, n);
        for (Index i = 0; i < n; ++i) {
          Vector above = s, below = s;
          above[i] += h;
          below[i] -= h;
          const AttentionPoint up = map.at(above), down = map.at(below);
          phi_by_difference.col(i) = (up.weights - down.weights) / (2 * h);
          second_by_difference.col(i) = (up.apply_transposed(c) - down.apply_transposed(c)) / (2 * h);
        }
        EXPECT_LT(relative_difference(phi, phi_by_difference), 1e-7);
        EXPECT_LT(largest_difference(second, second_by_difference),
                  1e-7 * std::max(1e-3, second.cwiseAbs().maxCoeff()));
      }
}

TEST(AttentionMap, NormHasRankTwoLessAndIgnoresTheScaleOfLogits) {
  const AttentionMap map{AttentionKind::norm};
  const Vector s = normal_vector(7, 3, "s");
  const Vector singular = Eigen::JacobiSVD<Eigen::MatrixXd>(dense(map.at(s))).singularValues();
  EXPECT_EQ((singular.array() > 1e-12).count(), 5);
  EXPECT_LT(largest_difference(map.weights(s), map.weights(17 * s)), 1e-14);
  EXPECT_LT((Vector::Ones(7).transpose() * dense(map.at(s))).norm(), 1e-14) << "left null vector";
}

TEST(AttentionMap, NormBoundsTheConditionOfItsJacobian) {  // range bound: kappa_perp(J) <= 2 exp(g sqrt(2T))
  for_random_logits([](const Vector& z) {
    const Index n = z.size();
    if (n < 3 || z.maxCoeff() == z.minCoeff()) return;
    const Vector s = (z.array() - z.mean()) / std::sqrt((z.array() - z.mean()).square().mean());
    const double range = s.maxCoeff() - s.minCoeff(), most = std::sqrt(2.0 * static_cast<double>(n));
    EXPECT_LE(range, most * (1 + 1e-14));
    EXPECT_LE(RowSpectrum(log_softmax(s)).log_kappa(), std::log(2) + most);
  });
}

TEST(AttentionMap, NormRefusesEqualLogits) {
  EXPECT_THROW((AttentionMap{AttentionKind::norm}.at(vector_of({2, 2, 2}))), Error);
  EXPECT_THROW((AttentionMap{AttentionKind::norm_min}.at(vector_of({2, 2, 2}))), Error);
  EXPECT_NEAR((AttentionMap{AttentionKind::norm_max}.weights(vector_of({2, 2, 2})))[0], 1.0 / 3, 1e-15);
  EXPECT_NEAR((AttentionMap{AttentionKind::norm, 1, 1, 1e-6}.weights(vector_of({2, 2, 2})))[0], 1.0 / 3, 1e-15);
}

}  // namespace
}  // namespace eureka::theory
