#include "theory/rank_starvation.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "base/error.h"
#include "theory/softmax_jacobian.h"
#include "theory/spectrum.h"

namespace eureka::theory {
namespace {

std::vector<Index> tokens_outside(const std::vector<Index>& active, Index tokens) {
  std::vector<Index> outside;
  for (Index j = 0; j < tokens; ++j)
    if (std::find(active.begin(), active.end(), j) == active.end()) outside.push_back(j);
  return outside;
}

// Orthonormal columns: the w with (x_ij - x_i0) . w = 0 for all active j.
Matrix blind_subspace(const StackedKeys& data, const std::vector<std::vector<Index>>& active, Index q) {
  const Index d = data.keys.cols();
  if (q == 0) return Matrix::Identity(d, d);
  Eigen::MatrixXd differences(d, q);
  Index column = 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const auto x = data.of(static_cast<Index>(i));
    for (std::size_t j = 1; j < active[i].size(); ++j)
      differences.col(column++) = (x.row(active[i][j]) - x.row(active[i][0])).transpose();
  }
  const Eigen::MatrixXd all = Eigen::HouseholderQR<Eigen::MatrixXd>(differences).householderQ();
  return all.rightCols(d - q);
}

}  // namespace

Vector starvation_bounds(const Teacher& teacher, double temperature) {
  const StackedKeys& data = teacher.data;
  const auto& active = teacher.active;
  const Index d = data.keys.cols(), tokens = data.tokens;
  EUREKA_CHECK(static_cast<Index>(active.size()) == data.examples(), "active tokens for every example");
  Index q = 0;
  for (const auto& list : active) q += static_cast<Index>(list.size()) - 1;
  if (q >= d) return {};

  Matrix bound = Matrix::Zero(d, d);
  for (Index i = 0; i < data.examples(); ++i) {
    const auto& seen = active[static_cast<std::size_t>(i)];
    const std::vector<Index> outside = tokens_outside(seen, tokens);
    if (outside.empty()) continue;
    const auto x = data.of(i);
    const Vector a = softmax(x * teacher.query, temperature);
    const Matrix u = teacher.values.middleRows(i * tokens, tokens);
    const Eigen::RowVectorXd mean = a.transpose() * u;
    const Eigen::MatrixXd spread = u(outside, Eigen::all).rowwise() - mean;
    const Matrix keys = x(outside, Eigen::all).rowwise() - x.row(seen[0]);
    const double delta = a(outside).maxCoeff();
    const double norm = Eigen::JacobiSVD<Eigen::MatrixXd>(spread).singularValues()[0];
    bound.noalias() += delta * delta * norm * norm * keys.transpose() * keys;
  }
  bound /= static_cast<double>(data.examples()) * temperature * temperature;
  const Matrix blind = blind_subspace(data, active, q);
  return eigenvalues(blind.transpose() * bound * blind);
}

}  // namespace eureka::theory
