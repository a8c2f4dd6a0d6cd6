// The attention rules that have a kernel, known without torch: every file in rules/, by its name.
//
//   for (const FusedRuleInfo& rule : fused_rules()) ...              rule.name, rule.description, rule.options
//   const FusedRule rule = make_fused_rule("norm_softmax", values);
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/attention_rows.h"
#include "kernels/rule_options.h"

namespace eureka {

// A rule with its options, as the fused engine needs it.
struct FusedRule {
  RowRule row;
  bool gradient_needs_logits = false;  // beside the weights, even where nobody learns the scale
  bool normalizes_rows = false;        // the sharpness of law() depends on how far apart the logits lie
  std::optional<HeadNorm> head_norm;   // of queries and keys, before they meet
  std::vector<RuleParameter> parameters;
  float scale_factor = 1;  // on the scale of every head, where no parameter is

  bool has(RuleParameterRole role) const;
  RowForm form() const;
  RowLaw law(const RowFacts& row) const;
};

struct FusedRuleInfo {
  std::string_view name;
  std::string_view description;
  OptionList options;
  FusedRule (*make)(const OptionValues& values);
};

// By name.
const std::vector<FusedRuleInfo>& fused_rules();
// nullptr: the rule has no kernel.
const FusedRuleInfo* find_fused_rule(std::string_view name);

// Requires: the rule has a kernel, and values have passed check_option().
FusedRule make_fused_rule(std::string_view name, const OptionValues& values = {});

}  // namespace eureka
