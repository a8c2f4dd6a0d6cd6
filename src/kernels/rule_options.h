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

struct RuleOptions {
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

// A rule that only changes what comes before the rows says `OtherOptions row() const` and has no kernel of its own.
template <class Options>
inline constexpr bool has_own_rows = !requires(const Options& options) {
  options.row();
};

}  // namespace eureka
