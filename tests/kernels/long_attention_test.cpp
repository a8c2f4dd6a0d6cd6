// Attention of many tokens, which goes by pieces of rows: with and without memory for the weights, over the seams of
// the pieces, and up to 1,024 tokens.
#include <cmath>
#include <cstring>

#include "kernels/attention.h"
#include "kernels/plain_attention.h"
#include "kernels/reference.h"

namespace eureka {
namespace {

struct MaskKind {
  bool causal, hides_keys;
};
constexpr MaskKind kMasks[] = {{false, false}, {true, false}, {false, true}, {true, true}};

struct Results {
  explicit Results(const AttentionShape& s)
      : out(s.samples * s.queries, s.heads * s.head_width),
        dq(s.samples * s.queries, s.heads * s.head_width),
        dk(s.samples * s.keys, s.heads * s.head_width),
        dv(s.samples * s.keys, s.heads * s.head_width),
        d_log(1, s.heads),
        d_weights(s.weight_floats()),
        d_logits(s.weight_floats()) {}
  Matrix out, dq, dk, dv, d_log;
  Buffer d_weights, d_logits;
};

struct LongCase {
  LongCase(const AttentionShape& s, const RowRule& row, MaskKind mask, bool learned)
      : shape(s),
        width(s.heads * s.head_width),
        q(s.samples * s.queries, width, "q"),
        k(s.samples * s.keys, width, "k"),
        v(s.samples * s.keys, width, "v"),
        d_out(s.samples * s.queries, width, "d_out"),
        visible(s.samples, s.keys),
        wanted(s.samples * s.queries * s.keys),
        logits(s.weight_floats()),
        weights(s.weight_floats()),
        scratch(s.scratch_floats()),
        rule{row, 0.4F, nullptr, learned, {}, {}} {
    for (std::size_t head = 0; head < s.heads; ++head) multiples.push_back(0.7F + 0.3F * static_cast<float>(head));
    rule.multiples = multiples.data();
    rule.mask.causal = mask.causal;
    for (std::size_t sample = 0; sample < s.samples; ++sample)
      for (std::size_t key = 0; key < s.keys; ++key) visible.at(sample, key) = (key + sample) % 3 == 1 ? 0.0F : 1.0F;
    if (mask.hides_keys) rule.mask.visible = visible.data();
    rule.mask.stride = visible.stride;
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i % 7 == 3 ? 1 : 0;
  }

  void fix_head(std::size_t head, bool some) {
    fixed.assign(shape.heads, 0);
    fixed[head] = 1;
    rule.fixed = {fixed.data(), some ? wanted.data() : nullptr, shape.keys - 1, 1, true};
  }

  Results run(bool keeps) {
    Results r(shape);
    const auto in = [](Matrix& m) { return MatrixA{m.data(), m.stride}; };
    const auto to = [](Matrix& m) { return MatrixC{m.data(), m.stride}; };
    const AttentionKept kept = keeps ? AttentionKept{logits.data(), weights.data()} : AttentionKept{};
    // Whatever scratch memory holds must not matter.
    const auto spoil = [&] { std::fill_n(scratch.data(), scratch.size(), 1e6F); };
    spoil();
    attention(shape, rule, in(q), in(k), in(v), kept, to(r.out), scratch.data());
    spoil();
    attention_backward(shape, rule, in(q), in(k), in(v), kept, in(d_out), to(r.dq), to(r.dk), to(r.dv), r.d_log.data(),
                       scratch.data(), {r.d_weights.data(), r.d_logits.data()});
    return r;
  }

  AttentionShape shape;
  std::size_t width;
  Matrix q, k, v, d_out, visible;
  std::vector<std::uint8_t> wanted, fixed;
  std::vector<float> multiples;
  Buffer logits, weights, scratch;
  HeadRules rule;
};

void expect_same_bits(Buffer& a, Buffer& b, const char* what) {
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << what;
}

void expect_same_bits(Results& a, Results& b) {
  expect_same_bits(a.out.buffer, b.out.buffer, "out");
  expect_same_bits(a.dq.buffer, b.dq.buffer, "dq");
  expect_same_bits(a.dk.buffer, b.dk.buffer, "dk");
  expect_same_bits(a.dv.buffer, b.dv.buffer, "dv");
  expect_same_bits(a.d_log.buffer, b.d_log.buffer, "by ln(multiple)");
  expect_same_bits(a.d_weights, b.d_weights, "by weights");
  expect_same_bits(a.d_logits, b.d_logits, "by logits");
}

TEST(LongAttention, WeightsComputedAgainHaveTheBitsOfThoseThatWereKept) {
  const std::vector<AttentionShape> shapes = {
      {2, 5, 5, 2, 4}, {2, 40, 40, 3, 12}, {2, 1, 70, 2, 8}, {1, 250, 250, 2, 8}};
  for_every_instruction_set([&] {
    for (const AttentionShape& shape : shapes)
      for (const RuleVariant& variant : row_variants())
        for (const MaskKind mask : kMasks)
          for (const bool learned : {false, true})
            for (const int fixes : {0, 1, 2}) {
              if (mask.causal && shape.queries != shape.keys) continue;
              SCOPED_TRACE(testing::Message()
                           << "keys " << shape.keys << " rule " << name_of(variant) << " causal " << mask.causal
                           << " hides " << mask.hides_keys << " learned " << learned << " fixes " << fixes);
              LongCase c(shape, row_rule(variant), mask, learned);
              if (fixes > 0) c.fix_head(1, fixes == 2);
              Results kept = c.run(true), again = c.run(false);
              expect_same_bits(kept, again);
              if (testing::Test::HasFailure()) return;
            }
  });
}

// Gradients by keys and values are one sum over the queries, in their order, however many pieces these come in.
TEST(LongAttention, SumsOverQueriesHaveNoSeams) {
  for_every_instruction_set([&] {
    if (!has_fused_multiply_add()) return;
    for (const MaskKind mask : kMasks) {
      const std::size_t tokens = 300;
      LongCase c({1, tokens, tokens, 2, 12}, SoftmaxOptions(), mask, false);
      ASSERT_LT(c.shape.rows_at_once(), tokens);
      Results r = c.run(true);
      for (std::size_t key = 0; key < tokens; ++key)
        for (std::size_t column = 0; column < c.width; ++column) {
          const std::size_t head = column / 12;
          float by_value = 0, by_key = 0;
          for (std::size_t query = 0; query < tokens; ++query) {
            const std::size_t at = (head * tokens + query) * c.shape.weight_stride() + key;
            by_value = std::fma(c.weights.data()[at], c.d_out.at(query, column), by_value);
            by_key = std::fma(r.d_logits.data()[at], c.q.at(query, column), by_key);
          }
          ASSERT_EQ(r.dv.at(key, column), by_value) << key;
          ASSERT_EQ(r.dk.at(key, column), by_key) << key;
        }
    }
  });
}

// A causal sequence knows nothing of what follows: no bit of its beginning depends on the pieces behind it.
TEST(LongAttention, WhatFollowsChangesNoBitOfACausalBeginning) {
  for (const RuleVariant& variant : row_variants()) {
    LongCase all({1, 260, 260, 2, 8}, row_rule(variant), {true, false}, true);
    LongCase beginning({1, 40, 40, 2, 8}, row_rule(variant), {true, false}, true);
    for (std::size_t row = 0; row < 260; ++row)
      for (std::size_t i = 0; i < all.width; ++i) {
        if (row >= 40) {
          all.d_out.at(row, i) = 0;
          continue;
        }
        beginning.q.at(row, i) = all.q.at(row, i);
        beginning.k.at(row, i) = all.k.at(row, i);
        beginning.v.at(row, i) = all.v.at(row, i);
        beginning.d_out.at(row, i) = all.d_out.at(row, i);
      }
    Results a = all.run(false), b = beginning.run(false);
    for (std::size_t row = 0; row < 40; ++row)
      for (std::size_t i = 0; i < all.width; ++i) {
        ASSERT_EQ(a.out(row, i), b.out(row, i)) << name_of(variant);
        ASSERT_EQ(a.dq(row, i), b.dq(row, i)) << name_of(variant);
        ASSERT_EQ(a.dk(row, i), b.dk(row, i)) << name_of(variant);
        ASSERT_EQ(a.dv(row, i), b.dv(row, i)) << name_of(variant);
      }
  }
}

// Softmax in double, whose gradient is written down.
void check_softmax(LongCase& c) {
  const AttentionShape& s = c.shape;
  const std::size_t tokens = s.queries, d = s.head_width;
  Results r = c.run(false);
  std::vector<Vector> zeros(tokens, Vector(c.width, 0.0)), out = zeros, dq = zeros, dk = zeros, dv = zeros;
  const auto dot = [&](const Matrix& a, std::size_t i, const Matrix& b, std::size_t j, std::size_t column) {
    double sum = 0;
    for (std::size_t x = column; x < column + d; ++x) sum += a(i, x) * b(j, x);
    return sum;
  };
  for (std::size_t head = 0; head < s.heads; ++head)
    for (std::size_t query = 0; query < tokens; ++query) {
      const std::size_t column = head * d;
      const double scale = static_cast<double>(c.multiples[head]) * static_cast<double>(0.4F);
      const auto sees = [&](std::size_t key) {
        return (!c.rule.mask.causal || key <= query) && (c.rule.mask.visible == nullptr || c.visible(0, key) != 0);
      };
      Vector w(tokens, 0.0), g(tokens, 0.0);
      double sum = 0, mean = 0;
      for (std::size_t key = 0; key < tokens; ++key)
        if (sees(key)) sum += w[key] = std::exp(scale * dot(c.q, query, c.k, key, column));
      for (std::size_t key = 0; key < tokens; ++key) {
        if (!sees(key)) continue;
        w[key] /= sum;
        g[key] = dot(c.d_out, query, c.v, key, column);
        mean += w[key] * g[key];
      }
      for (std::size_t key = 0; key < tokens; ++key) {
        const double by_logit = scale * w[key] * (g[key] - mean);
        for (std::size_t x = column; x < column + d; ++x) {
          out[query][x] += w[key] * c.v(key, x);
          dv[key][x] += w[key] * c.d_out(query, x);
          dq[query][x] += by_logit * c.k(key, x);
          dk[key][x] += by_logit * c.q(query, x);
        }
      }
    }
  const auto expect = [](Matrix& m, const std::vector<Vector>& e) {
    expect_matrix(
        m, [&](auto i, auto j) { return e[i][j]; }, 2e-5);
  };
  expect(r.out, out);
  expect(r.dq, dq);
  expect(r.dk, dk);
  expect(r.dv, dv);
}

TEST(LongAttention, MatchesPlainLoopsUpToOneThousandTokens) {
  for_every_instruction_set([&] {
    for (const std::size_t tokens : {111, 112, 113, 193, 1023, 1024})
      for (const MaskKind mask : kMasks) {
        SCOPED_TRACE(testing::Message() << tokens << " tokens, causal " << mask.causal);
        LongCase c({1, tokens, tokens, 1, 8}, SoftmaxOptions(), mask, false);
        check_softmax(c);
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

TEST(LongAttention, ScratchMemoryIsLinearInTokens) {
  const auto floats = [](std::size_t tokens) {
    return static_cast<double>(AttentionShape{1, tokens, tokens, 4, 16}.scratch_floats());
  };
  EXPECT_LT(floats(1024), 2.2 * floats(512));
  EXPECT_LT(floats(8192), 8.2 * floats(1024));
}

}  // namespace
}  // namespace eureka
