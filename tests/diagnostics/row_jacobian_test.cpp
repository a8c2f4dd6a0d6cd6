// Numbers of a row's Jacobian against matrices written out and eigenvalues by Jacobi's rotations, for every rule.
#include "diagnostics/row_jacobian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "diagnostics/small_matrix.h"
#include "kernels/plain_attention.h"
#include "support/rule_variants.h"

namespace eureka {
namespace {

RowFacts facts_of(const PlainRow& row) {
  return {.keys = row.keys,
          .variance = row.variance,
          .multiple = row.multiple,
          .inverse_root_width = row.inverse_root_width};
}

// d weights / d scaled logits by central differences of the rule itself.
SmallMatrix jacobian_by_differences(const RowRule& rule, const PlainRow& row) {
  const std::size_t n = row.logits.size();
  SmallMatrix j(n, n);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < n; ++i) {
    Vector up = row.logits, down = row.logits;
    up[i] += kStep;
    down[i] -= kStep;
    const Vector above = plain_weights(rule, {row.multiple, row.inverse_root_width, up, row.visible}),
                 below = plain_weights(rule, {row.multiple, row.inverse_root_width, down, row.visible});
    for (std::size_t k = 0; k < n; ++k) j(k, i) = (above[k] - below[k]) / (2 * kStep * row.scale());
  }
  return j;
}

PlainRow random_row(RandomStream& random, std::size_t keys, double size) {
  std::vector<float> logits(keys);
  random.fill_normal(logits);
  Vector values;
  for (const float logit : logits) values.push_back(size * static_cast<double>(logit));
  return {1.3, 0.25, values, Vector(keys, 1.0)};
}

TEST(RowJacobian, AgreesWithDifferencesOfEveryRule) {
  RandomStream random(1, "jacobian test");
  std::size_t compared = 0;
  for (const RuleVariant& variant : row_variants()) {
    const FusedRule rule = make_fused_rule(variant.rule, variant.options);
    if (rule.form() == RowForm::other) continue;
    for (const std::size_t keys : {3UL, 5UL, 17UL})
      for (const double size : {0.1, 1.0, 6.0}) {
        SCOPED_TRACE(variant.rule + " keys " + std::to_string(keys) + " size " + std::to_string(size));
        const PlainRow row = random_row(random, keys, size);
        const SmallMatrix j = jacobian_by_differences(rule.row, row);
        double trace = 0, square = 0;
        for (std::size_t i = 0; i < keys; ++i) trace += j(i, i);
        for (const double value : j.values) square += value * value;
        const auto seen = row_jacobian(rule, facts_of(row), row.scale(), {row.logits, plain_weights(rule.row, row)});
        ASSERT_TRUE(seen);
        EXPECT_NEAR(seen->trace, trace, 1e-7 + 1e-5 * std::abs(trace));
        // NormSoftmax by the variance can answer to its logits the wrong way round: then there is no such rank.
        EXPECT_EQ(seen->effective_rank.has_value(), trace > 1e-9);
        if (square > 1e-12 && trace > 1e-9) {
          ASSERT_TRUE(seen->effective_rank);
          EXPECT_NEAR(*seen->effective_rank, trace * trace / square, 1e-4 * trace * trace / square);
        }
        ++compared;
      }
  }
  EXPECT_GE(compared, 9U * 6);
}

// diag(a) - a a' written out; the eigenvalue 0 of (1,...,1) is left out.
TEST(RowJacobian, ExtremesAreEigenvaluesOfTheMatrix) {
  RandomStream random(2, "jacobian test");
  for (const char* name : {"softmax", "softmax_one", "sigmoid", "entmax15"}) {
    const FusedRule rule = make_fused_rule(name);
    for (const std::size_t keys : {2UL, 3UL, 4UL, 9UL, 40UL})
      for (const double size : {0.0, 0.3, 2.0, 12.0}) {
        SCOPED_TRACE(std::string(name) + " keys " + std::to_string(keys) + " size " + std::to_string(size));
        const PlainRow row = random_row(random, keys, size);
        const Vector a = plain_weights(rule.row, row);
        SmallMatrix j(keys, keys);
        double roots = 0;
        for (const double weight : a) roots += std::sqrt(weight);
        for (std::size_t i = 0; i < keys; ++i)
          for (std::size_t k = 0; k < keys; ++k) {
            if (rule.form() == RowForm::sigmoid)
              j(i, k) = i == k ? a[i] * (1 - a[i]) : 0;
            else if (rule.form() == RowForm::entmax15)
              j(i, k) = (i == k ? std::sqrt(a[i]) : 0) - std::sqrt(a[i] * a[k]) / roots;
            else
              j(i, k) = (i == k ? a[i] : 0) - a[i] * a[k];
          }
        std::vector<double> eigenvalues = symmetric_eigenvalues(j);
        std::sort(eigenvalues.begin(), eigenvalues.end());
        std::size_t flat = 0;
        if (rule.form() == RowForm::softmax) flat = 1;
        if (rule.form() == RowForm::entmax15) flat = 1 + static_cast<std::size_t>(std::count(a.begin(), a.end(), 0.0));
        const auto seen = row_jacobian(rule, facts_of(row), row.scale(), {row.logits, a});
        ASSERT_TRUE(seen);
        if (flat >= keys) {
          EXPECT_FALSE(seen->extremes);
          continue;
        }
        ASSERT_TRUE(seen->extremes);
        EXPECT_NEAR(seen->extremes->largest, eigenvalues.back(), 1e-11);
        EXPECT_NEAR(seen->extremes->smallest, eigenvalues[flat], 1e-11);
        if (eigenvalues[flat] > 1e-9) {
          EXPECT_NEAR(seen->extremes->log10_condition, std::log10(eigenvalues.back() / eigenvalues[flat]), 1e-5);
        }
      }
  }
}

// Equal logits stand at the top, in between, next to the end and at it: repeated tokens have such.
TEST(RowJacobian, ExtremesAreThoseOfTheMatrixWhereKeysAreTied) {
  const FusedRule softmax = make_fused_rule("softmax");
  for (const Vector& logits : {Vector{0.24, 0.24, -0.15}, Vector{0.24, -0.15, -0.15}, Vector{1, 0.3, 0.3, 0.3, -2},
                               Vector{1, 1, 0.3, -2, -2}, Vector{2, 2, 2, 1, 1}, Vector{0.5, 0.5, 0.5, -4}}) {
    const PlainRow row(1, 1, logits, Vector(logits.size(), 1.0));
    const Vector a = plain_weights(softmax.row, row);
    SmallMatrix j(a.size(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < a.size(); ++k) j(i, k) = (i == k ? a[i] : 0) - a[i] * a[k];
    std::vector<double> eigenvalues = symmetric_eigenvalues(j);
    std::sort(eigenvalues.begin(), eigenvalues.end());
    const auto seen = row_jacobian(softmax, facts_of(row), 1, {logits, a});
    ASSERT_TRUE(seen && seen->extremes);
    EXPECT_NEAR(seen->extremes->largest, eigenvalues.back(), 1e-12);
    EXPECT_NEAR(seen->extremes->smallest, eigenvalues[1], 1e-12);
  }
}

// Worked out by hand: two keys have one direction, of eigenvalue 2 a (1 - a).
TEST(RowJacobian, KnowsTheLimits) {
  const FusedRule softmax = make_fused_rule("softmax");
  const auto of = [&](Vector logits) {
    const PlainRow row(1, 1, logits, Vector(logits.size(), 1.0));
    return *row_jacobian(softmax, facts_of(row), 1, {logits, plain_weights(softmax.row, row)});
  };
  const RowJacobian two = of({std::log(3.0), 0});
  EXPECT_NEAR(two.extremes->largest, 2 * 0.75 * 0.25, 1e-14);
  EXPECT_NEAR(two.extremes->smallest, 2 * 0.75 * 0.25, 1e-14);
  EXPECT_NEAR(two.extremes->log10_condition, 0, 1e-13);
  EXPECT_NEAR(*two.effective_rank, 1, 1e-14);
  const RowJacobian flat = of({2, 2, 2, 2});
  EXPECT_NEAR(flat.trace, 0.75, 1e-15);
  EXPECT_NEAR(flat.extremes->largest, 0.25, 1e-15);
  EXPECT_NEAR(flat.extremes->smallest, 0.25, 1e-15);
  EXPECT_NEAR(*flat.effective_rank, 3, 1e-14);
  // Far below what float32 weights can hold, and below what doubles can: a row of logits 0, -500, -1000, one-hot.
  const RowJacobian sharp = of({0, -500, -1000});
  EXPECT_NEAR(sharp.extremes->log10_condition, (500 + std::log(2 / 1.5)) / std::log(10.0), 1e-9);
  EXPECT_NEAR(*sharp.effective_rank, 1, 1e-12);
  EXPECT_NEAR(*sharp.active_keys, 1, 1e-12);
  EXPECT_GT(sharp.trace, 0);
  EXPECT_FALSE(row_jacobian(softmax, {}, 1, {{0, std::nan("")}, {0.5, 0.5}}));
  const FusedRule linear = make_fused_rule("linear");
  EXPECT_FALSE(row_jacobian(linear, {}, 1, {{0, 1}, {0, 1}}));
}

}  // namespace
}  // namespace eureka
