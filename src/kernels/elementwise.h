// Passes over matrices and vectors that are not products.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eureka {

// sums[c] += the sum of column c
void add_column_sums(const float* x, std::size_t rows, std::size_t columns, std::size_t stride, float* sums);

// to[i] += from[i]
void add_to(const float* from, std::size_t count, float* to);

// c = a * b over rows x columns, each with its own stride
void multiply_elements(std::size_t rows, std::size_t columns, const float* a, std::size_t a_stride, const float* b,
                       std::size_t b_stride, float* c, std::size_t c_stride);

// sums[i] (+)= others..., in the order of a binary tree; clears the others. Returns the sum of squares of the result.
// parts: `count` buffers of `size` floats, the first of which receives the sum.
double sum_parts(float* const* parts, std::size_t count, std::size_t begin, std::size_t end);

// The loss of one prediction. The accuracy of many is the sum of `hit` over the sum of `possible`.
struct AnswerLoss {
  double loss = 0;        // with label smoothing
  double plain_loss = 0;  // without
  double hit = 0;         // 1 if the label is right; with the squared loss, the target's square less the error's
  double possible = 0;    // 1; with the squared loss, the target's square
};

// Cross-entropy of one row of logits; writes weight * d loss / d logits, zero behind the classes up to `padded`.
AnswerLoss cross_entropy(const float* logits, std::size_t classes, std::size_t padded, std::int64_t label,
                         double smoothing, double weight, float* d_logits);

// Mean of squared differences to `targets`; writes weight * d loss / d outputs in the same way.
AnswerLoss squared_loss(const float* outputs, std::size_t count, std::size_t padded, const float* targets,
                        double weight, float* d_outputs);

}  // namespace eureka
