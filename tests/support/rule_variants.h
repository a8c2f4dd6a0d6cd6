// Every rule with a kernel, with every combination of its flags and choices: what tests of rules iterate over.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kernels/fused_rules.h"

namespace eureka {

struct RuleVariant {
  std::string rule;
  OptionValues options;  // those that are not the default
};

// Every value of a flag or a choice, the default first. Options that are numbers or free text stay as they are.
inline std::vector<OptionValue> values_to_try(const OptionInfo& option) {
  std::vector<OptionValue> values = {option.default_value};
  if (option.type == OptionType::boolean) values.emplace_back(!std::get<bool>(option.default_value));
  for (const std::string& choice : option.choices)
    if (OptionValue(choice) != option.default_value) values.emplace_back(choice);
  return values;
}

inline std::vector<RuleVariant> variants_of(const FusedRuleInfo& rule) {
  std::vector<RuleVariant> variants = {{std::string(rule.name), {}}};
  for (const OptionInfo& option : rule.options) {
    std::vector<RuleVariant> wider;
    for (const RuleVariant& variant : variants)
      for (const OptionValue& value : values_to_try(option)) {
        wider.push_back(variant);
        if (value != option.default_value) wider.back().options[option.name] = value;
      }
    variants = std::move(wider);
  }
  return variants;
}

inline const std::vector<RuleVariant>& rule_variants() {
  static const std::vector<RuleVariant> all = [] {
    std::vector<RuleVariant> variants;
    for (const FusedRuleInfo& rule : fused_rules())
      for (RuleVariant& variant : variants_of(rule)) variants.push_back(std::move(variant));
    return variants;
  }();
  return all;
}

// A value of a number far from its default: half the way to its upper bound, by ratio where it can be.
inline OptionValue another_number(const OptionInfo& option) {
  const bool whole = option.type == OptionType::integer;
  const double start = whole ? static_cast<double>(std::get<std::int64_t>(option.default_value))
                             : std::get<double>(option.default_value);
  const double end = std::isfinite(option.range.max) ? option.range.max : 2 * std::abs(start) + 1;
  const double other = start > 0 ? std::sqrt(start * end) : (start + end) / 2;
  if (whole) return static_cast<std::int64_t>(std::ceil(other));
  return other;
}

// Every number of every rule, once away from its default.
inline std::vector<RuleVariant> number_variants() {
  std::vector<RuleVariant> variants;
  for (const FusedRuleInfo& rule : fused_rules())
    for (const OptionInfo& option : rule.options)
      if (option.type == OptionType::integer || option.type == OptionType::number)
        variants.push_back({std::string(rule.name), {{option.name, another_number(option)}}});
  return variants;
}

inline std::string name_of(const RuleVariant& variant) {
  std::string name = variant.rule;
  for (const auto& [option, value] : variant.options) name += " " + option + "=" + to_toml(value);
  return name;
}

}  // namespace eureka
