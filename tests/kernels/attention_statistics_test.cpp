// Row statistics in float32 against the same laws in float64, with masks, ties, peaks and underflow.
#include "kernels/attention_statistics.h"

#include <gmock/gmock.h>

#include "kernels/reference.h"
#include "theory/row_spectrum.h"
#include "theory/softmax_jacobian.h"

namespace eureka {
namespace {

constexpr float kThreshold = 0.05F;

struct FloatRow {
  std::vector<float> weights, logits, visible;
  theory::Vector shown_logits;  // of the visible keys
};

// Keys beyond the row and hidden ones hold garbage: nothing may come of them.
FloatRow random_row(std::size_t keys, double scale, double hidden, std::uint64_t seed) {
  RandomStream random(seed, "statistics row", keys);
  FloatRow row{std::vector<float>(keys), std::vector<float>(keys), std::vector<float>(keys, 1.0F), {}};
  std::vector<double> shown;
  for (std::size_t i = 0; i < keys; ++i) {
    row.logits[i] = static_cast<float>(scale * static_cast<double>(random.normal()));
    if (i > 0 && random.chance(.1)) row.logits[i] = row.logits[i - 1];
    row.visible[i] = random.chance(hidden) ? 0.0F : 1.0F;
  }
  row.visible[0] = 1;
  for (std::size_t i = 0; i < keys; ++i)
    if (row.visible[i] != 0) shown.push_back(static_cast<double>(row.logits[i]));
  row.shown_logits = Eigen::Map<const theory::Vector>(shown.data(), static_cast<Eigen::Index>(shown.size()));
  const theory::Vector a = theory::softmax(row.shown_logits);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < keys; ++i) {
    const bool seen = row.visible[i] != 0;
    row.weights[i] = seen ? static_cast<float>(a[next]) : 0.7F;
    next += seen ? 1 : 0;
    if (!seen) row.logits[i] = 1e6F;
  }
  return row;
}

void expect_close(double value, double truth, double relative, const char* what, double absolute = 1e-37) {
  EXPECT_LE(std::abs(value - truth), relative * std::abs(truth) + absolute) << what << " " << value << " for " << truth;
}

void expect_statistics(const AttentionRowStatistics& s, const theory::Vector& logits) {
  const theory::RowStatistics truth = theory::row_statistics(theory::log_softmax(logits));
  const double log_error = 2e-6 * std::max(1.0, logits.maxCoeff() - logits.minCoeff());
  ASSERT_EQ(s.keys, static_cast<float>(truth.tokens));
  if (truth.tokens < 2) return;
  const double e = 1e-5 + 4 * log_error;
  expect_close(s.trace, truth.trace, e, "trace");
  expect_close(s.frobenius, truth.frobenius, e, "frobenius");
  expect_close(s.effective_rank, truth.effective_rank, e, "effective rank");
  expect_close(s.largest_low, std::exp(truth.log_largest.low), e, "largest, low");
  expect_close(s.largest_high, std::exp(truth.log_largest.high), e, "largest, high");
  expect_close(s.smallest_low, std::exp(truth.log_smallest.low), e, "smallest, low");
  expect_close(s.smallest_high, std::exp(truth.log_smallest.high), e, "smallest, high");
  expect_close(s.log10_kappa_low, truth.log_kappa.low / std::log(10), 0, "kappa, low", 1e-5 + log_error);
  expect_close(s.log10_kappa_high, truth.log_kappa.high / std::log(10), 0, "kappa, high", 1e-5 + log_error);
  const double tokens = static_cast<double>(truth.tokens);
  expect_close(s.log_pseudo_determinant, truth.log_pseudo_determinant, 1e-5, "pseudo-determinant", log_error * tokens);
  expect_close(s.entropy, truth.entropy, e, "entropy", 1e-6);
  expect_close(s.participation, truth.participation, e, "participation");
  float active = 0;
  for (const double a : theory::softmax(logits)) active += a > static_cast<double>(kThreshold) ? 1.0F : 0.0F;
  EXPECT_EQ(s.active, active);
  EXPECT_FALSE(s.underflowed);
}

TEST(AttentionStatistics, AgreeWithFloat64OverRandomMaskedRows) {
  for_every_instruction_set([] {
    std::uint64_t seed = 0;
    for (const std::size_t keys : {1, 2, 3, 7, 8, 9, 16, 31, 64, 100, 197})
      for (const double scale : {0.0, .1, 1.0, 4.0, 10.0})
        for (const double hidden : {0.0, .3, .95}) {
          const FloatRow row = random_row(keys, scale, hidden, ++seed);
          SCOPED_TRACE(testing::Message() << keys << " keys, scale " << scale << ", hidden " << hidden);
          const float* visible = hidden > 0 ? row.visible.data() : nullptr;
          expect_statistics(attention_statistics({row.weights.data(), keys, visible}, kThreshold), row.shown_logits);
          expect_statistics(attention_statistics({row.weights.data(), keys, visible, row.logits.data()}, kThreshold),
                            row.shown_logits);
        }
  });
}

TEST(AttentionStatistics, KeepLogarithmsBelowUnderflowWhenGivenLogits) {
  const float logits[] = {0, -1, -150, -200};
  theory::Vector z(4);
  z << 0, -2, -300, -400;
  float weights[4];
  for (int i = 0; i < 4; ++i) weights[i] = static_cast<float>(theory::softmax(z)[i]);
  ASSERT_EQ(weights[3], 0);
  const theory::RowStatistics truth = theory::row_statistics(theory::log_softmax(z));
  const auto with = attention_statistics({.weights = weights, .keys = 4, .logits = logits, .scale = 2}, kThreshold);
  EXPECT_NEAR(with.log10_kappa_low, truth.log_kappa.low / std::log(10), 1e-4);
  EXPECT_NEAR(with.log_pseudo_determinant, truth.log_pseudo_determinant, 1e-3);
  EXPECT_FALSE(with.underflowed);
  const auto without = attention_statistics({.weights = weights, .keys = 4}, kThreshold);
  EXPECT_TRUE(without.underflowed);
  EXPECT_LT(without.log10_kappa_low, truth.log_kappa.low / std::log(10)) << "still a lower bound";
  EXPECT_GT(without.log10_kappa_low, 40);
}

TEST(AttentionStatistics, OfOneHotUniformAndTinyRowsAreFinite) {
  const float one_hot[] = {0, 1, 0, 0}, uniform[] = {.25F, .25F, .25F, .25F};
  const auto peaked = attention_statistics({one_hot, 4}, kThreshold);
  EXPECT_TRUE(peaked.underflowed);
  EXPECT_LT(peaked.trace, 1e-37F);
  for (const float value : {peaked.effective_rank, peaked.log10_kappa_low, peaked.log10_kappa_high, peaked.entropy})
    EXPECT_TRUE(std::isfinite(value));
  const auto flat = attention_statistics({uniform, 4}, kThreshold);
  EXPECT_NEAR(flat.effective_rank, 3, 1e-5);
  EXPECT_NEAR(flat.log10_kappa_low, 0, 1e-6);
  EXPECT_NEAR(flat.largest_low, .25, 1e-6);
  EXPECT_EQ(flat.active, 4);
  EXPECT_EQ(attention_statistics({uniform, 1}, kThreshold).keys, 1);
  EXPECT_EQ(attention_statistics({uniform, 0}, kThreshold).keys, 0);
  const float hidden[] = {0, 0, 0, 0};
  EXPECT_EQ(attention_statistics({uniform, 4, hidden}, kThreshold).keys, 0);
}

TEST(AttentionStatistics, SummaryOfAHeadLeavesOutRowsOfOneKey) {
  std::vector<AttentionRowStatistics> rows(101);
  for (std::size_t i = 0; i <= 100; ++i) {
    rows[i].keys = 5;
    rows[i].trace = static_cast<float>((i * 37) % 101);
    rows[i].active = 3;
  }
  rows.push_back({.keys = 1, .trace = 1e9F});
  const HeadStatistics head = summarize(rows);
  EXPECT_EQ(head.rows, 101U);
  EXPECT_EQ(head.active_degrees, 202U);
  EXPECT_FLOAT_EQ(head.trace.mean, 50);
  EXPECT_FLOAT_EQ(head.trace.percentile_5, 5);
  EXPECT_FLOAT_EQ(head.trace.median, 50);
  EXPECT_FLOAT_EQ(head.trace.percentile_95, 95);
  EXPECT_EQ(summarize({}).rows, 0U);
}

}  // namespace
}  // namespace eureka
