// The Jacobian toolbox against worked values, dense matrices and finite differences.
#include "theory/softmax_jacobian.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "theory/support.h"

namespace eureka::theory {
namespace {

const Vector kRow = vector_of({.7, .2, .1});

Matrix identity(Index n) { return Matrix::Identity(n, n); }
Matrix centering(Index n) { return identity(n).array() - 1.0 / static_cast<double>(n); }

TEST(SoftmaxJacobian, PseudoInverseOfAWorkedRow) {  // O3
  const Matrix expected = matrix_of(3, {2900, -400, -2500, -400, 4400, -4000, -2500, -4000, 6500}) / 1260;
  EXPECT_LT(largest_difference(apply_pseudo_inverse(kRow, identity(3)), expected), kOracle);
}

TEST(SoftmaxJacobian, SecondDerivativeOfAWorkedRow) {  // O4
  const Matrix expected = 1e-3 * matrix_of(3, {-112, 28, 84, 28, -72, 44, 84, 44, -128});
  EXPECT_LT(largest_difference(apply_second_derivative(kRow, vector_of({1, 0, -1}), identity(3)), expected), kOracle);
}

TEST(SoftmaxJacobian, IsTheDerivativeOfSoftmaxAtATemperature) {
  const Vector z = normal_vector(6, 3, "logits");
  const double tau = 0.7, h = 1e-6;
  for (Index i = 0; i < z.size(); ++i) {
    Vector above = z, below = z;
    above[i] += h;
    below[i] -= h;
    const Vector slope = (softmax(above, tau) - softmax(below, tau)) / (2 * h);
    EXPECT_LT(largest_difference(slope, jacobian(softmax(z, tau)).col(i) / tau), 1e-9);
  }
}

TEST(SoftmaxJacobian, SecondDerivativeIsTheDerivativeOfTheFirst) {
  const Vector z = normal_vector(6, 4, "logits"), c = normal_vector(6, 5, "contraction");
  const double h = 1e-6;
  const Matrix second = apply_second_derivative(softmax(z), c, identity(6));
  for (Index i = 0; i < z.size(); ++i) {
    Vector above = z, below = z;
    above[i] += h;
    below[i] -= h;
    const Vector slope = (apply_jacobian(softmax(above), c) - apply_jacobian(softmax(below), c)) / (2 * h);
    EXPECT_LT(largest_difference(slope, second.col(i)), 1e-9);
  }
}

TEST(SoftmaxJacobian, PropertiesOverRandomRows) {  // O16: J 1 = 0, S 1 = 0, J J^+ = P, x^T J x = Var_a(x)
  for_random_logits([](const Vector& z) {
    const Vector a = softmax(z);
    const Index n = a.size();
    const Vector x = normal_vector(n, 9, "x"), ones = Vector::Ones(n);
    const Matrix dense = Matrix(a.asDiagonal()) - a * a.transpose();
    EXPECT_LT(largest_difference(jacobian(a), dense), 1e-15);
    EXPECT_LT(apply_jacobian(a, ones).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_LT(apply_second_derivative(a, x, ones).cwiseAbs().maxCoeff(), 1e-14);
    const double mean = a.dot(x), variance = (a.array() * (x.array() - mean).square()).sum();
    EXPECT_NEAR(x.dot(Vector(apply_jacobian(a, x))), variance, 1e-14);
    if (a.minCoeff() > 1e-9) {
      EXPECT_LT(largest_difference(apply_jacobian(a, apply_pseudo_inverse(a, identity(n))), centering(n)), 1e-6);
    }
    EXPECT_NEAR(log_softmax(z).array().exp().sum(), 1, 1e-13);
  });
}

TEST(SoftmaxJacobian, OneTokenHasNothingToTell) {
  const Vector a = softmax(vector_of({3.5}));
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(jacobian(a)(0, 0), 0);
  EXPECT_EQ(apply_pseudo_inverse(a, identity(1))(0, 0), 0);
}

TEST(SoftmaxJacobian, TellsWhatIsWrongWithARow) {
  const auto message = [](const Vector& a) {
    try {
      check_coefficients(a);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(message(kRow), "");
  EXPECT_THAT(message(Vector()), testing::HasSubstr("at least one coefficient"));
  EXPECT_THAT(message(vector_of({1.2, -.2})), testing::HasSubstr("coefficient 2 is negative: -0.2"));
  EXPECT_THAT(message(vector_of({.5, .4})), testing::HasSubstr("sum to 0.9, not to 1"));
  EXPECT_THAT(message(vector_of({.5, std::numeric_limits<double>::quiet_NaN()})), testing::HasSubstr("coefficient 2"));
  EXPECT_THROW(check_logits(Vector(), 1), Error);
  EXPECT_THROW(check_logits(vector_of({1}), 0), Error);
  EXPECT_THROW(check_logits(vector_of({1, std::numeric_limits<double>::infinity()}), 1), Error);
}

}  // namespace
}  // namespace eureka::theory
