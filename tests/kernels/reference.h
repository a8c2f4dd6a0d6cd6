// The obvious slow version of everything, in double: the truth the kernels are compared with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/buffer.h"
#include "kernels/instruction_set.h"

namespace eureka {

// A row-major matrix with its own stride; padding stays zero.
struct Matrix {
  Matrix(std::size_t row_count, std::size_t column_count, const char* name = nullptr, std::size_t extra = 0)
      : rows(row_count), columns(column_count), stride(row_stride(column_count) + extra), buffer(rows * stride) {
    if (name == nullptr) return;
    RandomStream random(1, name, rows * 1000 + columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) at(i, j) = random.normal();
  }
  float& at(std::size_t i, std::size_t j) { return buffer.data()[i * stride + j]; }
  double operator()(std::size_t i, std::size_t j) const { return static_cast<double>(buffer.data()[i * stride + j]); }
  float* data() { return buffer.data(); }

  std::size_t rows, columns, stride;
  Buffer buffer;
};

// Runs the same checks with every instruction set this machine has.
inline void for_every_instruction_set(const std::function<void()>& checks) {
  const std::string before = instruction_set();
  for (const std::string& name : instruction_sets()) {
    choose_instruction_set(name);
    SCOPED_TRACE(name);
    checks();
  }
  choose_instruction_set(before);
}

// Every element within `tolerance` of the largest, and nothing behind the columns.
inline void expect_matrix(Matrix& measured, const std::function<double(std::size_t, std::size_t)>& expected,
                          double tolerance, bool zero_padding = true) {
  double largest = 1e-30;
  for (std::size_t i = 0; i < measured.rows; ++i)
    for (std::size_t j = 0; j < measured.columns; ++j) largest = std::max(largest, std::abs(expected(i, j)));
  for (std::size_t i = 0; i < measured.rows; ++i) {
    for (std::size_t j = 0; j < measured.columns; ++j)
      ASSERT_NEAR(measured(i, j), expected(i, j), tolerance * largest) << "row " << i << " column " << j;
    for (std::size_t j = measured.columns; zero_padding && j < measured.stride; ++j)
      ASSERT_EQ(measured(i, j), 0) << "padding of row " << i;
  }
}

inline double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
inline double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }

}  // namespace eureka
