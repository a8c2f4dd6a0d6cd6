// A rule's kernel on one row alone, as the engine's loops inline it, with the instruction set at hand.
#pragma once

#include "kernels/attention_rows.h"

namespace eureka {

void row_weights(const RowRule& rule, const AttentionRow& row);

// Turns d loss / d weights into d loss / d logits, in place. Returns d loss / d ln(multiple), for a learned scale.
// `logits` must still hold the logits where that is wanted or the rule's gradient needs them; else nullptr.
float row_gradient(const RowRule& rule, const AttentionRow& row, float* gradient);

}  // namespace eureka
