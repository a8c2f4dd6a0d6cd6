// The few types everything in this layer is written in: float64, matrices row-major, so that vec(W)[k * columns + l] is
// W(k, l).
#pragma once

#include <Eigen/Core>

namespace eureka::theory {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace eureka::theory
