// Attention rules on one row: the logits q.k of one query become weights on its keys, and a gradient by the weights
// becomes a gradient by the logits. A rule is one file in rules/: its options and a pair of functions on a row.
//
// Ensures: a hidden key gets weight 0 and gradient 0; statistics count visible keys only; a row that sees nothing has
// weights 0; rows with one visible key or equal logits have finite weights and gradients.
#pragma once

#include <cstddef>

#include "kernels/rule_list.h"

namespace eureka {

struct AttentionRow {
  float multiple = 1;              // of 1/sqrt(head width)
  float inverse_root_width = 1;    // 1 / sqrt(head width)
  const float* logits = nullptr;   // unscaled; may be the weights' own memory while these are formed
  float* weights = nullptr;        // rows have room up to the next multiple of 16
  std::size_t keys = 0;            // in the row
  const float* visible = nullptr;  // 1 or 0 per key, with the same room; nullptr: all

  float scale() const { return multiple * inverse_root_width; }
};

// ln(count) of a whole number, the same bits on every machine; looked up where it is small.
float log_of_count(float count);

}  // namespace eureka
