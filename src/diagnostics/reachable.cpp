#include "diagnostics/reachable.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"

namespace eureka {
namespace {

double dot(const double* a, const double* b, std::size_t count) {
  constexpr std::size_t kLanes = 4;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

void need(Buffer& buffer, std::size_t floats) {
  if (buffer.size() < floats) buffer = Buffer(floats);
}

double square_of(const Buffer& matrix, std::size_t rows, std::size_t columns) {
  double square = 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < columns; ++i) {
      const auto value = static_cast<double>(matrix.data()[row * round_up(columns) + i]);
      square += value * value;
    }
  return square;
}

}  // namespace

// Gram-Schmidt, the longest column first; what is left of a column below the rounding of float32 is no direction.
ReachableShare::Basis ReachableShare::basis_of(const TensorView& from, std::int64_t sample, std::int64_t head) {
  const auto rows = static_cast<std::size_t>(from.sizes[2]), width = static_cast<std::size_t>(from.sizes[3]);
  std::vector<double> columns(rows * width);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* values = from.row(sample, head, static_cast<std::int64_t>(row));
    for (std::size_t i = 0; i < width; ++i) columns[i * rows + row] = static_cast<double>(values[i]);
  }
  std::vector<double> squares(width);
  for (std::size_t i = 0; i < width; ++i) squares[i] = dot(&columns[i * rows], &columns[i * rows], rows);
  constexpr double kRounding = 1e-6;
  const double smallest = *std::max_element(squares.begin(), squares.end()) * kRounding * kRounding;
  Basis basis;
  while (basis.rank < std::min(rows, width)) {
    const auto longest = static_cast<std::size_t>(
        std::max_element(squares.begin() + static_cast<std::ptrdiff_t>(basis.rank), squares.end()) - squares.begin());
    double* next = &columns[basis.rank * rows];
    if (longest != basis.rank) {
      std::swap_ranges(next, next + rows, &columns[longest * rows]);
      std::swap(squares[basis.rank], squares[longest]);
    }
    const double square = dot(next, next, rows);
    if (!(square > smallest)) break;
    const double inverse = 1 / std::sqrt(square);
    for (std::size_t row = 0; row < rows; ++row) next[row] *= inverse;
    for (std::size_t other = basis.rank + 1; other < width; ++other) {
      double* column = &columns[other * rows];
      const double along = dot(next, column, rows);
      for (std::size_t row = 0; row < rows; ++row) column[row] -= along * next[row];
      squares[other] = dot(column, column, rows);
    }
    ++basis.rank;
  }
  columns.resize(basis.rank * rows);
  basis.columns = std::move(columns);
  return basis;
}

void ReachableShare::put(const Basis& basis, std::size_t tokens, bool as_columns, Buffer& to) {
  const std::size_t stride = round_up(as_columns ? basis.rank : tokens);
  const std::size_t rows = as_columns ? tokens : basis.rank;
  need(to, rows * stride);
  std::fill_n(to.data(), rows * stride, 0.0F);
  for (std::size_t i = 0; i < basis.rank; ++i)
    for (std::size_t token = 0; token < tokens; ++token)
      to.data()[as_columns ? token * stride + i : i * stride + token] =
          static_cast<float>(basis.columns[i * tokens + token]);
}

std::optional<double> ReachableShare::of(const TensorView& q, const TensorView& k, const TensorView& d_logits,
                                         std::int64_t sample, std::int64_t head) {
  const auto queries = static_cast<std::size_t>(d_logits.sizes[2]), keys = static_cast<std::size_t>(d_logits.sizes[3]);
  float largest = 0;
  for (std::size_t row = 0; row < queries; ++row) {
    const float* g = d_logits.row(sample, head, static_cast<std::int64_t>(row));
    for (std::size_t key = 0; key < keys; ++key) {
      if (!std::isfinite(g[key])) return std::nullopt;
      largest = std::max(largest, std::abs(g[key]));
    }
  }
  if (largest == 0) return std::nullopt;
  const Basis of_q = basis_of(q, sample, head), of_k = basis_of(k, sample, head);
  if (of_q.rank == queries || of_k.rank == keys) return 1.0;

  const std::size_t stride = round_up(keys);
  need(g_, queries * stride);
  std::fill_n(g_.data(), queries * stride, 0.0F);
  for (std::size_t row = 0; row < queries; ++row) {
    const float* g = d_logits.row(sample, head, static_cast<std::int64_t>(row));
    for (std::size_t key = 0; key < keys; ++key) g_.data()[row * stride + key] = g[key] / largest;
  }
  // |G|^2 less what is out of reach is |P_Q G|^2 + |G P_K|^2 - |P_Q G P_K|^2.
  put(of_q, queries, false, q_rows_);
  put(of_k, keys, true, k_columns_);
  need(qg_, of_q.rank * stride);
  const std::size_t narrow = round_up(of_k.rank);
  need(gk_, queries * narrow);
  need(both_, of_q.rank * narrow);
  multiply({of_q.rank, keys, queries}, {q_rows_.data(), round_up(queries)}, MatrixB::plain(g_.data(), stride),
           {qg_.data(), stride});
  multiply({queries, of_k.rank, keys}, {g_.data(), stride}, MatrixB::plain(k_columns_.data(), narrow),
           {gk_.data(), narrow});
  multiply({of_q.rank, of_k.rank, keys}, {qg_.data(), stride}, MatrixB::plain(k_columns_.data(), narrow),
           {both_.data(), narrow});
  const double inside =
      square_of(qg_, of_q.rank, keys) + square_of(gk_, queries, of_k.rank) - square_of(both_, of_q.rank, of_k.rank);
  return std::clamp(inside / square_of(g_, queries, keys), 0.0, 1.0);
}

}  // namespace eureka
