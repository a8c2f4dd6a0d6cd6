#include "theory/spectrum.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "base/error.h"

namespace eureka::theory {
namespace {

Matrix symmetrized(const Matrix& m) { return 0.5 * (m + m.transpose()); }

}  // namespace

EigenSystem eigen_system(const Matrix& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetrized(symmetric));
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vector eigenvalues(const Matrix& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetrized(symmetric), Eigen::EigenvaluesOnly).eigenvalues();
}

Conditioning conditioning(const Vector& values, double null_fraction) {
  EUREKA_CHECK(values.size() > 0, "no eigenvalues");
  Conditioning result;
  result.largest = values[values.size() - 1];
  while (result.nulls + 1 < values.size() && values[result.nulls] <= null_fraction * result.largest) ++result.nulls;
  result.smallest = values[result.nulls];
  return result;
}

Conditioning conditioning(const Matrix& symmetric, double null_fraction) {
  return conditioning(eigenvalues(symmetric), null_fraction);
}

Conditioning pencil_conditioning(const Matrix& symmetric, const Matrix& metric, double null_fraction) {
  const EigenSystem system = eigen_system(symmetric);
  const Index nulls = conditioning(system.values, null_fraction).nulls;
  const Matrix range = system.vectors.rightCols(system.vectors.cols() - nulls);
  const Eigen::MatrixXd a = symmetrized(range.transpose() * symmetric * range);
  const Eigen::MatrixXd b = symmetrized(range.transpose() * metric * range);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(a, b, Eigen::EigenvaluesOnly);
  const Vector& values = solver.eigenvalues();
  return {values[0], values[values.size() - 1], nulls};
}

Conditioning diagonal_conditioning(const Matrix& symmetric, double null_fraction) {
  const Vector scale = symmetric.diagonal().array().rsqrt();
  return conditioning(Matrix(scale.asDiagonal() * symmetric * scale.asDiagonal()), null_fraction);
}

Conditioning conditioning_across(const Matrix& symmetric, const Vector& direction) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(direction);
  const Eigen::MatrixXd q = qr.householderQ();
  const Matrix across = q.rightCols(q.cols() - 1);
  return conditioning(Matrix(across.transpose() * symmetric * across), 1e-15);
}

}  // namespace eureka::theory
