// LayerNorm, RMSNorm, rotary positions, attention rows, head norms, column sums, cross-entropy, updates: against plain
// loops, and gradients against finite differences of the plain loops in double.
#include "kernels/elementwise.h"
#include "kernels/head_norm.h"
#include "kernels/layer_norm.h"
#include "kernels/plain_attention.h"
#include "kernels/reference.h"
#include "kernels/rotary.h"
#include "kernels/single_rows.h"
#include "kernels/updates.h"

namespace eureka {
namespace {

TEST(AttentionRows, MatchPlainLoopsWithAndWithoutMask) {
  for_every_instruction_set([&] {
    for (const RuleVariant& variant : row_variants())
      for (const std::size_t keys : {1, 2, 5, 8, 17, 33, 100})
        for (const int hidden : {0, 3, 1}) {  // none, every third, all
          SCOPED_TRACE(testing::Message() << name_of(variant) << " keys " << keys << " hidden " << hidden);
          const RowRule rule = row_rule(variant);
          const DifferenceStep difference = step_for(rule);
          const auto inverse_root_width = static_cast<double>(0.3F);
          Matrix logits(1, keys, "logits"), weights(1, keys), gradient(1, keys, "gradient"), visible(1, keys);
          Vector x(keys), seen(keys), weight(keys);
          for (std::size_t i = 0; i < keys; ++i) {
            seen[i] = hidden == 0 || (hidden == 3 && i % 3 != 1) ? 1 : 0;
            visible.at(0, i) = static_cast<float>(seen[i]);
            x[i] = logits(0, i);
            weight[i] = gradient(0, i);
          }
          AttentionRow row{1.5F, 0.3F, logits.data(), weights.data(), keys, hidden == 0 ? nullptr : visible.data()};
          row_weights(rule, row);
          const auto f = [&](const Vector& at) { return plain_weights(rule, {1.5, inverse_root_width, at, seen}); };
          const Vector expected = f(x);
          expect_matrix(
              weights, [&](auto, auto j) { return expected[j]; }, 2e-6);
          for (std::size_t i = 0; i < keys; ++i)
            if (seen[i] == 0) {
              ASSERT_EQ(weights(0, i), 0);
            }
          const float by_multiple = row_gradient(rule, row, gradient.data());
          const Vector slope = slopes(f, x, weight, difference.step);
          for (std::size_t i = 0; i < keys; ++i)
            ASSERT_NEAR(gradient(0, i), slope[i], 2e-5 * difference.slack) << keys << " " << hidden;
          const auto g = [&](const Vector& at) {
            return plain_weights(rule, {1.5 * std::exp(at[0]), inverse_root_width, x, seen});
          };
          ASSERT_NEAR(by_multiple, slopes(g, {0.0}, weight, difference.step)[0],
                      3e-5 * difference.slack * std::sqrt(static_cast<double>(keys)));
        }
  });
}

TEST(AttentionRows, StayFiniteForEqualLogits) {
  for (const RuleVariant& variant : row_variants()) {
    SCOPED_TRACE(name_of(variant));
    const RowRule rule = row_rule(variant);
    Matrix logits(1, 9), weights(1, 9), gradient(1, 9, "gradient");
    AttentionRow row{1, 1, logits.data(), weights.data(), 9, nullptr};
    row_weights(rule, row);
    row_gradient(rule, row, gradient.data());
    const Vector expected = plain_weights(rule, {1, 1, Vector(9, 0.0), Vector(9, 1.0)});
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(weights(0, i), expected[i], 1e-7);
      EXPECT_TRUE(std::isfinite(gradient(0, i)));
    }
  }
}

TEST(LayerNorm, MatchesPlainLoopsThereAndBack) {
  for_every_instruction_set([] {
    for (const std::size_t width : {1, 3, 8, 17, 32, 65})
      for (const bool centered : {true, false}) {
        const std::size_t rows = 5;
        Matrix x(rows, width, "x"), gain(1, width, "gain"), bias(1, width, "bias"), y(rows, width), dx(rows, width);
        Matrix dy(rows, width, "dy"), residual(rows, width, "residual"), d_gain(1, width), d_bias(1, width);
        Buffer mean(rows), scale(rows);
        const NormShape shape{rows, width, 1e-3F, centered};
        layer_norm(shape, x.data(), x.stride, gain.data(), bias.data(), y.data(), y.stride, mean.data(), scale.data());
        const auto norm = [&](const Vector& row) {
          double m = 0, v = 0;
          for (const double e : row) m += !centered ? 0 : e / static_cast<double>(width);
          for (const double e : row) v += (e - m) * (e - m) / static_cast<double>(width);
          Vector out;
          for (std::size_t j = 0; j < width; ++j)
            out.push_back((row[j] - m) / std::sqrt(v + 1e-3) * gain(0, j) + (centered ? bias(0, j) : 0));
          return out;
        };
        layer_norm_backward(shape, x.data(), x.stride, gain.data(), mean.data(), scale.data(), dy.data(), dy.stride,
                            residual.data(), dx.data(), dx.stride, d_gain.data(), d_bias.data());
        Vector by_gain(width, 0.0), by_bias(width, 0.0);
        for (std::size_t i = 0; i < rows; ++i) {
          Vector row, weight;
          for (std::size_t j = 0; j < width; ++j) {
            row.push_back(x(i, j));
            weight.push_back(dy(i, j));
          }
          const Vector expected = norm(row), slope = slopes(norm, row, weight);
          for (std::size_t j = 0; j < width; ++j) {
            ASSERT_NEAR(y(i, j), expected[j], 1e-5);
            ASSERT_NEAR(dx(i, j), slope[j] + residual(i, j), 5e-5);
            by_gain[j] += weight[j] * (expected[j] - (centered ? bias(0, j) : 0)) / gain(0, j);
            by_bias[j] += centered ? weight[j] : 0;
          }
        }
        expect_matrix(
            d_gain, [&](auto, auto j) { return by_gain[j]; }, 1e-5);
        expect_matrix(
            d_bias, [&](auto, auto j) { return by_bias[j]; }, 1e-5);
        expect_matrix(
            y, [&](auto i, auto j) { return y(i, j); }, 1);
      }
  });
}

TEST(Rotary, TurnsPairsByTheirPlaceAndBack) {
  const std::size_t rows = 6, tokens = 3, heads = 2, width = 6, pairs = 3;
  Matrix x(rows, heads * width, "x"), y(rows, heads * width), back(rows, heads * width);
  std::vector<float> cosines, sines;
  for (std::size_t i = 0; i < tokens * pairs; ++i) {
    cosines.push_back(std::cos(0.3F * static_cast<float>(i)));
    sines.push_back(std::sin(0.3F * static_cast<float>(i)));
  }
  const RotaryShape shape{rows, tokens, heads, width};
  turn_heads(shape, Turn::forward, cosines.data(), sines.data(), x.data(), x.stride, y.data(), y.stride);
  expect_matrix(
      y,
      [&](std::size_t row, std::size_t column) {
        const std::size_t i = column % width % pairs, first = column / width * width + i;
        const double angle = 0.3 * static_cast<double>(row % tokens * pairs + i);
        return column % width < pairs ? x(row, first) * std::cos(angle) - x(row, first + pairs) * std::sin(angle)
                                      : x(row, first + pairs) * std::cos(angle) + x(row, first) * std::sin(angle);
      },
      1e-6);
  turn_heads(shape, Turn::back, cosines.data(), sines.data(), y.data(), y.stride, back.data(), back.stride);
  expect_matrix(
      back, [&](auto i, auto j) { return static_cast<double>(x(i, j)); }, 1e-6);
}

TEST(HeadNorm, MatchesPlainLoopsThereAndBack) {
  for_every_instruction_set([] {
    for (const int kind : {0, 1, 2})
      for (const std::size_t width : {2, 5, 8, 19}) {
        const HeadNorm norm{kind == 0, kind == 2, 1e-3F};
        const HeadNormShape shape{3, 2, width};
        Matrix x(3, 2 * width, "x"), y(3, 2 * width), g(3, 2 * width, "g"), before(3, 2 * width, "g");
        Matrix gain(1, width, "gain"), d_gain(1, width), d_factor(1, 2);
        const float factor[] = {0.7F, 1.9F};
        head_norm(norm, shape, x.data(), x.stride, gain.data(), factor, y.data(), y.stride);
        head_norm_backward(norm, shape, x.data(), x.stride, gain.data(), factor, g.data(), g.stride, d_gain.data(),
                           d_factor.data());
        Vector by_gain(width, 0.0), by_factor(2, 0.0);
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t head = 0; head < 2; ++head) {
            const auto f = [&](const Vector& row) {
              double m = 0, s = 0;
              const auto size = static_cast<double>(width);
              for (const double e : row) m += kind == 0 ? e / size : 0;
              for (const double e : row) s += (e - m) * (e - m);
              const double scale = kind == 2 ? std::sqrt(size) / std::sqrt(s + 1e-6) : 1 / std::sqrt(s / size + 1e-3);
              Vector out;
              for (std::size_t j = 0; j < width; ++j) out.push_back((row[j] - m) * scale * gain(0, j) * factor[head]);
              return out;
            };
            Vector row, weight;
            for (std::size_t j = 0; j < width; ++j) {
              row.push_back(x(i, head * width + j));
              weight.push_back(before(i, head * width + j));
            }
            const Vector expected = f(row), slope = slopes(f, row, weight);
            for (std::size_t j = 0; j < width; ++j) {
              ASSERT_NEAR(y(i, head * width + j), expected[j], 1e-5);
              ASSERT_NEAR(g(i, head * width + j), slope[j], 5e-5 * std::max(1.0, std::abs(slope[j])));
              by_gain[j] += weight[j] * expected[j] / gain(0, j);
              by_factor[head] += weight[j] * expected[j];
            }
          }
        expect_matrix(
            d_gain, [&](auto, auto j) { return by_gain[j]; }, 1e-5);
        expect_matrix(
            d_factor, [&](auto, auto j) { return by_factor[j]; }, 1e-5);
      }
  });
}

TEST(Elementwise, ColumnSumsAndProducts) {
  for_every_instruction_set([] {
    for (const std::size_t columns : {1, 7, 16, 33, 70}) {
      Matrix x(9, columns, "x"), y(9, columns, "y"), z(9, columns), sums(1, columns, "sums"), start(1, columns, "sums");
      add_column_sums(x.data(), 9, columns, x.stride, sums.data());
      const auto exact = [&](std::size_t, std::size_t j) {
        double sum = start(0, j);
        for (std::size_t i = 0; i < 9; ++i) sum += x(i, j);
        return sum;
      };
      expect_matrix(sums, exact, 1e-6);
      multiply_elements(9, columns, x.data(), x.stride, y.data(), y.stride, z.data(), z.stride);
      expect_matrix(
          z, [&](auto i, auto j) { return x(i, j) * y(i, j); }, 1e-6);
      add_to(y.data(), columns, z.data());
      EXPECT_NEAR(z(0, columns - 1), x(0, columns - 1) * y(0, columns - 1) + y(0, columns - 1), 1e-6);
    }
  });
}

TEST(Elementwise, SumsPartsAndClearsThem) {
  for (std::size_t count = 1; count <= 8; ++count) {
    std::vector<Buffer> parts;
    std::vector<float*> pointers;
    for (std::size_t p = 0; p < count; ++p) {
      parts.emplace_back(64);
      for (std::size_t i = 0; i < 64; ++i) parts[p].data()[i] = static_cast<float>(p + i);
    }
    for (Buffer& part : parts) pointers.push_back(part.data());
    double square = 0;
    for (std::size_t i = 0; i < 64; ++i)
      square += std::pow(static_cast<double>(count * i + count * (count - 1) / 2), 2);
    EXPECT_NEAR(sum_parts(pointers.data(), count, 0, 64), square, 1e-6 * square);
    EXPECT_EQ(parts[0].data()[5], static_cast<float>(count * 5 + count * (count - 1) / 2));
    for (std::size_t p = 1; p < count; ++p) EXPECT_EQ(parts[p].data()[5], 0);
  }
}

TEST(CrossEntropy, MatchesTheTextbook) {
  for_every_instruction_set([] {
    for (const std::size_t classes : {2, 10, 17}) {
      Matrix logits(1, classes, "logits"), gradient(1, classes);
      const auto loss = [&](const Vector& z) {
        double total = 0, result = 0;
        for (const double e : z) total += std::exp(e);
        for (std::size_t c = 0; c < classes; ++c)
          result -= (0.1 / static_cast<double>(classes) + (c == 1 ? 0.9 : 0)) * (z[c] - std::log(total));
        return Vector{result};
      };
      Vector z;
      for (std::size_t c = 0; c < classes; ++c) z.push_back(logits(0, c));
      const AnswerLoss result = cross_entropy(logits.data(), classes, logits.stride, 1, 0.1, 0.25, gradient.data());
      EXPECT_NEAR(result.loss, loss(z)[0], 1e-6);
      const Vector slope = slopes(loss, z, {0.25});
      expect_matrix(
          gradient, [&](auto, auto c) { return slope[c]; }, 1e-5);
      EXPECT_EQ((result.hit == 1), std::max_element(z.begin(), z.end()) == z.begin() + 1);
    }
  });
}

TEST(Updates, MatchPlainLoops) {
  for_every_instruction_set([] {
    Matrix x(1, 48, "x"), g(1, 48, "g"), m(1, 48, "m"), v(1, 48, "v"), x0(1, 48, "x"), g0(1, 48, "g"), m0(1, 48, "m");
    for (std::size_t i = 0; i < 48; ++i) v.at(0, i) *= v.at(0, i);
    Matrix v0(1, 48);
    for (std::size_t i = 0; i < 48; ++i) v0.at(0, i) = v.at(0, i);
    const AdamStep step{.rate = 0.01F,
                        .inverse_root_bias = 1.3F,
                        .epsilon = 1e-3F,
                        .shrink = 0.99F,
                        .decay = 0.2F,
                        .gradient_scale = 0.5F};
    adam_update(step, 48, x.data(), g.data(), m.data(), v.data());
    for (std::size_t i = 0; i < 48; ++i) {
      const double gradient = 0.5 * g0(0, i) + 0.2 * x0(0, i);
      const double mean = 0.9 * m0(0, i) + 0.1 * gradient, square = 0.999 * v0(0, i) + 0.001 * gradient * gradient;
      ASSERT_NEAR(m(0, i), mean, 1e-6);
      ASSERT_NEAR(v(0, i), square, 1e-6 * std::max(1.0, square));
      ASSERT_NEAR(x(0, i), 0.99 * x0(0, i) - 0.01 * mean / (std::sqrt(square) * 1.3 + 1e-3), 1e-6);
      ASSERT_EQ(g(0, i), 0);
    }
    Matrix y(1, 48, "x"), h(1, 48, "g"), speed(1, 48, "m");
    sgd_update({0.1F, 0.8F, 0.3F, false, 2.0F}, 48, y.data(), h.data(), speed.data());
    for (std::size_t i = 0; i < 48; ++i) {
      const double expected = 0.8 * m0(0, i) + 2 * g0(0, i) + 0.3 * x0(0, i);
      ASSERT_NEAR(speed(0, i), expected, 1e-5);
      ASSERT_NEAR(y(0, i), x0(0, i) - 0.1 * expected, 1e-5);
    }
  });
}

}  // namespace
}  // namespace eureka
