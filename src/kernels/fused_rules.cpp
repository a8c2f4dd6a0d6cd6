#include "kernels/fused_rules.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace eureka {
namespace {

template <class Options>
FusedRule make(const OptionValues& values) {
  Options options;
  assign(options, values);
  FusedRule rule;
  const auto take_row = [&]<class Row>(const Row& row) {
    rule.row = row;
    rule.gradient_needs_logits = Row::kGradientNeedsLogits;
    rule.normalizes_rows = Row::kNormalizesRows;
  };
  if constexpr (has_own_rows<Options>)
    take_row(options);
  else
    take_row(options.row());
  rule.head_norm = options.head_norm();
  rule.parameters = options.parameters();
  rule.scale_factor = static_cast<float>(options.scale_factor());
  return rule;
}

template <class Options>
FusedRuleInfo info(std::string_view name) {
  return {name, Options::kDescription, describe<Options>(), make<Options>};
}

template <std::size_t... kIndices>
std::vector<FusedRuleInfo> all_rules(std::index_sequence<kIndices...>) {
  return {info<std::variant_alternative_t<kIndices, RowRule>>(kRowRuleNames[kIndices])...};
}

}  // namespace

bool FusedRule::has(RuleParameterRole role) const {
  return std::ranges::any_of(parameters, [&](const RuleParameter& parameter) { return parameter.role == role; });
}

RowForm FusedRule::form() const {
  return std::visit([]<class Options>(const Options&) { return Options::kForm; }, row);
}

RowLaw FusedRule::law(const RowFacts& facts) const {
  return std::visit([&](const auto& options) { return options.law(facts); }, row);
}

const std::vector<FusedRuleInfo>& fused_rules() {
  static const std::vector<FusedRuleInfo> all = all_rules(std::make_index_sequence<std::variant_size_v<RowRule>>());
  return all;
}

const FusedRuleInfo* find_fused_rule(std::string_view name) {
  const auto found = std::ranges::find(fused_rules(), name, &FusedRuleInfo::name);
  return found == fused_rules().end() ? nullptr : &*found;
}

FusedRule make_fused_rule(std::string_view name, const OptionValues& values) {
  const FusedRuleInfo* info = find_fused_rule(name);
  EUREKA_CHECK(info != nullptr, "no fused rule " + std::string(name));
  return info->make(values);
}

}  // namespace eureka
