// What an attention rule with a kernel says of itself beside the names of its options: the base of the options structs
// in rules/. A rule hides the members in which it differs.
//
//   struct MyRuleOptions : RuleOptions {
//     static constexpr const char* kDescription = "one line for eureka list";
//     double power = 2;
//     template <class V> void visit(V& v) { v("power", power, Range{1, 10}, "one line of help"); }
//   };
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/options.h"
#include "kernels/head_norm.h"

namespace eureka {

// What the fused engine does with a parameter of a rule; its shape follows.
enum class RuleParameterRole {
  query_gain,        // per dimension of a head: factor on normalized queries
  key_gain,          // the same on keys
  log_query_factor,  // per head: ln of a factor on normalized queries
  scale_factor       // per head: factor on the scale
};

struct RuleParameter {
  RuleParameterRole role;
  const char* name;  // completed with "blocks.N.attn."
  double initial;
};

// What the weights a of a row are, given u = sharpness * (q.k) of its visible keys: what others must know to tell how
// the weights answer to the logits.
//   softmax      exp(u) / sum
//   softmax_one  exp(u) / (1 + sum)
//   sigmoid      1 / (1 + exp(shift - u))
//   entmax15     max(0, u / 2 - tau)^2, with tau such that they add up to one
//   other        nothing that is known
enum class RowForm : std::uint8_t { other, softmax, softmax_one, sigmoid, entmax15 };

// A row of logits q.k, in the numbers that rules read off it.
struct RowFacts {
  double keys = 1;                // visible ones
  double variance = 0;            // of their logits, by the number of keys
  double multiple = 1;            // of 1/sqrt(head width), the rule's own strength included
  double inverse_root_width = 1;  // 1 / sqrt(head width)

  double scale() const { return multiple * inverse_root_width; }
};

struct RowLaw {
  double sharpness = 1;
  double shift = 0;
  // The sharpness itself answers to the logits: d sharpness = -pull * sharpness * (centered logits . d logits).
  double pull = 0;
};

struct RuleOptions {
  static constexpr RowForm kForm = RowForm::other;
  // The sharpness depends on how far apart the logits lie.
  static constexpr bool kNormalizesRows = false;
  RowLaw law(const RowFacts& row) const { return {.sharpness = row.scale()}; }

  // The gradient of a row reads its logits beside its weights, even where nobody learns the scale.
  static constexpr bool kGradientNeedsLogits = false;

  template <class V>
  void visit(V&) {}

  // Learned in every block.
  std::vector<RuleParameter> parameters() const { return {}; }
  // Of queries and keys, before they meet.
  std::optional<HeadNorm> head_norm() const { return std::nullopt; }
  // On the scale of every head, where it is not learned.
  double scale_factor() const { return 1; }
};

// A rule whose rows are another's, after something done to queries and keys or with other numbers, says
// `OtherOptions row() const` and has no kernel of its own.
template <class Options>
inline constexpr bool has_own_rows = !requires(const Options& options) {
  options.row();
};

}  // namespace eureka
