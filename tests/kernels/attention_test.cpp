// Attention of whole samples against plain loops in double: all rules, masks, odd sizes, one token, one head.
#include "kernels/attention.h"

#include "kernels/plain_attention.h"
#include "kernels/reference.h"

namespace eureka {
namespace {

enum class Mask { none, causal, keys, both };

constexpr float kInverseRootWidth = 0.4F;

// One row in double: logits to weights, and a gradient by weights back to one by logits and ln(multiple).
struct ExactRow {
  ExactRow(const RowRule& rule, double multiple, const Vector& logits, const Vector& visible, const Vector& d_weights) {
    const auto at = [&](double times, const Vector& z) {
      return plain_weights(rule, {multiple * times, static_cast<double>(kInverseRootWidth), z, visible});
    };
    const double step = step_for(rule).step;
    weights = at(1, logits);
    d_logits = slopes([&](const Vector& z) { return at(1, z); }, logits, d_weights, step);
    by_multiple = slopes([&](const Vector& log) { return at(std::exp(log[0]), logits); }, {0.0}, d_weights, step)[0];
  }
  Vector weights, d_logits;
  double by_multiple;
};

// Inputs of one attention, its results by the kernels, and the same in double.
struct Case {
  Case(AttentionShape s, const RowRule& row, Mask mask, bool learned)
      : shape(s),
        width(s.heads * s.head_width),
        q(s.samples * s.queries, width, "q"),
        k(s.samples * s.keys, width, "k"),
        v(s.samples * s.keys, width, "v"),
        d_out(s.samples * s.queries, width, "d_out"),
        visible(s.samples, s.keys),
        rule{row, kInverseRootWidth, nullptr, learned, {}} {
    for (std::size_t head = 0; head < s.heads; ++head)
      multiples.push_back(learned ? 0.7F + 0.3F * static_cast<float>(head) : 1.1F);
    rule.multiples = multiples.data();
    rule.mask.causal = mask == Mask::causal || mask == Mask::both;
    for (std::size_t sample = 0; sample < s.samples; ++sample)
      for (std::size_t key = 0; key < s.keys; ++key) visible.at(sample, key) = (key + sample) % 3 == 1 ? 0.0F : 1.0F;
    if (mask == Mask::keys || mask == Mask::both) rule.mask.visible = visible.data();
    rule.mask.stride = visible.stride;
  }

  bool sees(std::size_t sample, std::size_t query, std::size_t key) const {
    if (rule.mask.causal && key > query) return false;
    return rule.mask.visible == nullptr || visible(sample, key) != 0;
  }

  AttentionShape shape;
  std::size_t width;
  Matrix q, k, v, d_out, visible;
  std::vector<float> multiples;
  HeadRules rule;
};

double dot(const Matrix& a, std::size_t i, const Matrix& b, std::size_t j, std::size_t column, std::size_t width) {
  double sum = 0;
  for (std::size_t c = column; c < column + width; ++c) sum += a(i, c) * b(j, c);
  return sum;
}

void check(Case& c) {
  const AttentionShape& s = c.shape;
  const std::size_t rows = s.samples * s.heads * s.queries, stride = s.weight_stride();
  Buffer logits(s.weight_floats()), weights(s.weight_floats()), scratch(s.scratch_floats());
  Buffer tap_weights(s.weight_floats()), tap_logits(s.weight_floats());
  Matrix out(s.samples * s.queries, c.width), dq(s.samples * s.queries, c.width), dk(s.samples * s.keys, c.width),
      dv(s.samples * s.keys, c.width), d_log(1, s.heads);
  const auto in = [](Matrix& m) { return MatrixA{m.data(), m.stride}; };
  const auto to = [](Matrix& m) { return MatrixC{m.data(), m.stride}; };
  // Whatever scratch memory holds must not matter.
  for (std::size_t i = 0; i < scratch.size(); ++i) scratch.data()[i] = 1e6F;
  attention(s, c.rule, in(c.q), in(c.k), in(c.v), {logits.data(), weights.data()}, to(out), scratch.data());
  attention_backward(s, c.rule, in(c.q), in(c.k), in(c.v), {logits.data(), weights.data()}, in(c.d_out), to(dq), to(dk),
                     to(dv), d_log.data(), scratch.data(), {tap_weights.data(), tap_logits.data()});

  std::vector<Vector> zeros(s.samples * std::max(s.queries, s.keys), Vector(c.width, 0.0));
  std::vector<Vector> e_out = zeros, e_dq = zeros, e_dk = zeros, e_dv = zeros;
  Vector e_log(s.heads, 0.0);
  const double slack = step_for(c.rule.row).slack;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t query = row % s.queries, head = row / s.queries % s.heads, sample = row / s.queries / s.heads;
    const std::size_t column = head * s.head_width, q_row = sample * s.queries + query;
    Vector z, seen, by_weight;
    for (std::size_t key = 0; key < s.keys; ++key) {
      const std::size_t k_row = sample * s.keys + key;
      z.push_back(dot(c.q, q_row, c.k, k_row, column, s.head_width));
      seen.push_back(c.sees(sample, query, key) ? 1 : 0);
      by_weight.push_back(dot(c.d_out, q_row, c.v, k_row, column, s.head_width));
    }
    const ExactRow plain(c.rule.row, static_cast<double>(c.multiples[head]), z, seen, by_weight);
    e_log[head] += plain.by_multiple;
    for (std::size_t key = 0; key < s.keys; ++key) {
      const std::size_t k_row = sample * s.keys + key;
      ASSERT_NEAR(weights.data()[row * stride + key], plain.weights[key], 3e-6) << "row " << row << " key " << key;
      if (seen[key] != 0) {
        ASSERT_NEAR(tap_weights.data()[row * stride + key], by_weight[key], 1e-4);
      }
      ASSERT_NEAR(tap_logits.data()[row * stride + key], plain.d_logits[key], 1e-4 * slack);
      for (std::size_t i = column; i < column + s.head_width; ++i) {
        e_out[q_row][i] += plain.weights[key] * c.v(k_row, i);
        e_dv[k_row][i] += plain.weights[key] * c.d_out(q_row, i);
        e_dq[q_row][i] += plain.d_logits[key] * c.k(k_row, i);
        e_dk[k_row][i] += plain.d_logits[key] * c.q(q_row, i);
      }
    }
  }
  const auto expect = [](Matrix& m, const std::vector<Vector>& e, double tolerance) {
    expect_matrix(
        m, [&](auto i, auto j) { return e[i][j]; }, tolerance);
  };
  expect(out, e_out, 5e-6);
  expect(dv, e_dv, 5e-6);
  // NormSoftmax by the variance of two close logits magnifies their rounding.
  expect(dq, e_dq, 1e-4 * slack);
  expect(dk, e_dk, 1e-4 * slack);
  for (std::size_t head = 0; c.rule.learned && head < s.heads; ++head)
    ASSERT_NEAR(d_log(0, head), e_log[head], 2e-4 * slack * std::max(1.0, std::abs(e_log[head])));
}

TEST(Attention, MatchesPlainLoopsThereAndBack) {
  // Samples, queries, keys, heads, head width.
  const std::vector<AttentionShape> shapes = {{1, 1, 1, 1, 1},    {2, 5, 5, 1, 3},   {9, 5, 5, 2, 4},
                                              {3, 17, 17, 4, 16}, {2, 3, 8, 3, 5},   {2, 33, 33, 1, 12},
                                              {2, 2, 2, 2, 6},    {1, 41, 41, 2, 8}, {4, 1, 7, 3, 4}};
  for_every_instruction_set([&] {
    for (const AttentionShape& shape : shapes)
      for (const RuleVariant& variant : row_variants())
        for (const Mask mask : {Mask::none, Mask::causal, Mask::keys, Mask::both})
          for (const bool learned : {false, true}) {
            const bool causal = mask == Mask::causal || mask == Mask::both;
            if (causal && shape.queries != shape.keys) continue;
            SCOPED_TRACE(testing::Message()
                         << "queries " << shape.queries << " heads " << shape.heads << " rule " << name_of(variant)
                         << " mask " << static_cast<int>(mask) << " learned " << learned);
            Case one(shape, row_rule(variant), mask, learned);
            check(one);
            if (HasFatalFailure()) return;
          }
  });
}

TEST(Attention, LogitsMayShareTheMemoryOfTheWeights) {
  Case c({3, 17, 17, 4, 16}, SoftmaxOptions(), Mask::none, false);
  Buffer logits(c.shape.weight_floats()), apart(c.shape.weight_floats()), shared(c.shape.weight_floats());
  Buffer scratch(c.shape.scratch_floats());
  Matrix out(51, 64);
  for (float* to : {logits.data(), shared.data()})
    attention(c.shape, c.rule, {c.q.data(), c.q.stride}, {c.k.data(), c.k.stride}, {c.v.data(), c.v.stride},
              {to, to == shared.data() ? shared.data() : apart.data()}, {out.data(), out.stride}, scratch.data());
  for (std::size_t row = 0; row < 3 * 4 * 17; ++row)
    for (std::size_t key = 0; key < 17; ++key) ASSERT_EQ(apart.data()[row * 32 + key], shared.data()[row * 32 + key]);
}

// The result of a sample may depend on nothing but the sample: batches are split in many ways.
TEST(Attention, ASampleDoesNotDependOnItsNeighbors) {
  for (const RuleVariant& variant : row_variants()) {
    Case all({7, 5, 5, 2, 8}, row_rule(variant), Mask::none, false);
    AttentionShape one = all.shape;
    one.samples = 1;
    Buffer logits(all.shape.weight_floats()), weights(all.shape.weight_floats()), scratch(all.shape.scratch_floats());
    Matrix together(35, 16), alone(35, 16);
    const auto run = [&](const AttentionShape& shape, std::size_t row, Matrix& out) {
      attention(shape, all.rule, {all.q.data() + row * all.q.stride, all.q.stride},
                {all.k.data() + row * all.k.stride, all.k.stride}, {all.v.data() + row * all.v.stride, all.v.stride},
                {logits.data(), weights.data()}, {out.data() + row * out.stride, out.stride}, scratch.data());
    };
    run(all.shape, 0, together);
    for (std::size_t sample = 0; sample < 7; ++sample) run(one, sample * 5, alone);
    for (std::size_t i = 0; i < 35; ++i)
      for (std::size_t j = 0; j < 16; ++j) ASSERT_EQ(together(i, j), alone(i, j));
  }
}

TEST(AbsorbedAttention, MatchesPlainLoopsThereAndBack) {
  const std::vector<AbsorbedShape> shapes = {{1, 1, 1, 1}, {3, 5, 2, 7}, {2, 17, 4, 64}, {2, 33, 3, 20}};
  for_every_instruction_set([&] {
    for (const AbsorbedShape& s : shapes)
      for (const RuleVariant& variant : row_variants())
        for (const bool biased : {false, true}) {
          SCOPED_TRACE(testing::Message() << "keys " << s.keys << " rule " << name_of(variant));
          const std::size_t rows = s.samples * s.heads, stride = s.weight_stride();
          Matrix u(rows, s.width, "u"), tokens(s.samples * s.keys, s.width, "tokens"), dz(rows, s.width, "dz");
          Matrix offsets(1, rows, "offsets"), d_offsets(1, rows, "d_offsets"), z(rows, s.width), du(rows, s.width);
          Matrix d_tokens(s.samples * s.keys, s.width), sums(1, rows), d_log(1, s.heads);
          Matrix logits(rows, stride), weights(rows, stride), scratch(s.heads, stride);
          const std::vector<float> multiples(s.heads, 0.3F);
          const HeadRules rule{row_rule(variant), kInverseRootWidth, multiples.data(), true, {}};
          const double slack = step_for(rule.row).slack;
          absorbed_attention(s, rule, {u.data(), u.stride}, {tokens.data(), tokens.stride},
                             biased ? offsets.data() : nullptr, logits.data(), weights.data(), {z.data(), z.stride});
          absorbed_attention_backward(s, rule, {u.data(), u.stride}, {tokens.data(), tokens.stride}, logits.data(),
                                      weights.data(), {dz.data(), dz.stride}, biased ? d_offsets.data() : nullptr,
                                      {du.data(), du.stride}, {d_tokens.data(), d_tokens.stride}, sums.data(),
                                      d_log.data(), scratch.data());
          std::vector<Vector> e_z(rows, Vector(s.width, 0.0)), e_du = e_z;
          std::vector<Vector> e_tokens(s.samples * s.keys, Vector(s.width, 0.0));
          Vector e_sums(rows, 0.0), e_log(s.heads, 0.0);
          for (std::size_t row = 0; row < rows; ++row) {
            const std::size_t first = row / s.heads * s.keys;
            Vector logit, by_weight;
            for (std::size_t key = 0; key < s.keys; ++key) {
              logit.push_back(dot(u, row, tokens, first + key, 0, s.width) + (biased ? offsets(0, row) : 0));
              by_weight.push_back(dot(dz, row, tokens, first + key, 0, s.width) + (biased ? d_offsets(0, row) : 0));
            }
            const ExactRow plain(rule.row, static_cast<double>(0.3F), logit, Vector(s.keys, 1.0), by_weight);
            e_log[row % s.heads] += plain.by_multiple;
            for (std::size_t key = 0; key < s.keys; ++key) {
              e_sums[row] += plain.d_logits[key];
              for (std::size_t i = 0; i < s.width; ++i) {
                e_z[row][i] += plain.weights[key] * tokens(first + key, i);
                e_du[row][i] += plain.d_logits[key] * tokens(first + key, i);
                e_tokens[first + key][i] += plain.weights[key] * dz(row, i) + plain.d_logits[key] * u(row, i);
              }
            }
          }
          expect_matrix(
              z, [&](auto i, auto j) { return e_z[i][j]; }, 1e-5);
          expect_matrix(
              du, [&](auto i, auto j) { return e_du[i][j]; }, 5e-5 * slack);
          expect_matrix(
              d_tokens, [&](auto i, auto j) { return e_tokens[i][j]; }, 5e-5 * slack);
          for (std::size_t row = 0; row < rows; ++row) ASSERT_NEAR(sums(0, row), e_sums[row], 1e-4 * slack);
          for (std::size_t head = 0; head < s.heads; ++head)
            ASSERT_NEAR(d_log(0, head), e_log[head], 2e-4 * slack * std::max(1.0, std::abs(e_log[head])));
        }
  });
}

}  // namespace
}  // namespace eureka
