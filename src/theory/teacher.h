// Data with a known answer for model A: tokens, values and the teacher's query w*, whose outputs are the labels. Every
// attention kind is its own teacher on the same data, so the loss at w* is zero and the Hessian there is Gauss-Newton.
//
//   const Teacher teacher = planted_teacher({32, 12, 16, 4}, {.extra_active = 4, .delta = 1e-4}, seed);
//   const SharedQueryModel model = student_of(teacher, {AttentionKind::softmax});
#pragma once

#include <cstdint>
#include <vector>

#include "theory/shared_query_model.h"

namespace eureka::theory {

struct TeacherSize {
  Index examples = 32;  // N
  Index tokens = 12;    // T
  Index features = 16;  // d
  Index outputs = 4;    // p
};

// Throws Error(usage) for an empty size, and for N p < d: then the Gauss-Newton matrix lacks rank whatever the
// attention does, and its condition number would say nothing about softmax.
void check_size(const TeacherSize& size);

struct Teacher {
  StackedKeys data;
  Matrix values;                           // (N T) x p
  Vector query;                            // w*
  std::vector<std::vector<Index>> active;  // planted: the tokens of each example meant to be seen
};

// Tokens, values and the direction of w* are standard normal; logits have deviation `logit_deviation`, 1/tau in a sweep
// over temperatures.
Teacher gaussian_teacher(const TeacherSize& size, double logit_deviation, std::uint64_t seed);

struct Planted {
  Index extra_active = 0;  // q: active tokens beyond one per example, dealt round-robin over the examples
  double delta = 1e-3;     // weight of the other tokens, relative to the active ones, up to e^+-0.75
};

// Tokens as above, but their component along w* is replaced so that X_i w* are the planted logits exactly; |w*| is the
// logits' deviation, which keeps tokens of unit variance along w* too.
Teacher planted_teacher(const TeacherSize& size, const Planted& planted, std::uint64_t seed);

SharedQueryModel student_of(const Teacher& teacher, const AttentionMap& map);

// N(0, 1) in the shape asked for, from the stream (seed, name).
Matrix normal_matrix(Index rows, Index columns, std::uint64_t seed, const char* name);
Vector normal_vector(Index size, std::uint64_t seed, const char* name);

}  // namespace eureka::theory
