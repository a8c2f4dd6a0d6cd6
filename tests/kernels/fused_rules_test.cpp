// The list of rules with a kernel, and the variants of them that other tests iterate over.
#include "kernels/fused_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/rule_variants.h"

namespace eureka {
namespace {

TEST(FusedRules, AreTheFilesOfTheFolder) {
  std::vector<std::string> files, names;
  for (const auto& file : std::filesystem::directory_iterator(EUREKA_SOURCES "/kernels/rules"))
    files.push_back(file.path().stem().string());
  for (const FusedRuleInfo& rule : fused_rules()) names.emplace_back(rule.name);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(files));
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

// Who iterates over the variants meets every rule, every choice and both values of every flag.
TEST(FusedRules, VariantsLeaveNothingOut) {
  for (const FusedRuleInfo& rule : fused_rules()) {
    SCOPED_TRACE(rule.name);
    const auto appears = [&](const OptionInfo& option, const OptionValue& value) {
      return std::ranges::any_of(rule_variants(), [&](const RuleVariant& variant) {
        const auto given = variant.options.find(option.name);
        return variant.rule == rule.name &&
               (given == variant.options.end() ? option.default_value : given->second) == value;
      });
    };
    EXPECT_TRUE(std::ranges::any_of(rule_variants(), [&](const RuleVariant& variant) {
      return variant.rule == rule.name && variant.options.empty();
    }));
    for (const OptionInfo& option : rule.options) {
      SCOPED_TRACE(option.name);
      for (const std::string& choice : option.choices) EXPECT_TRUE(appears(option, choice)) << choice;
      if (option.type != OptionType::boolean) continue;
      EXPECT_TRUE(appears(option, true));
      EXPECT_TRUE(appears(option, false));
    }
  }
}

TEST(FusedRules, TakeTheirOptions) {
  const FusedRule rule = make_fused_rule("norm_softmax", {{"deviation", std::string("variance")}, {"epsilon", 0.5}});
  const auto& options = std::get<NormSoftmaxOptions>(rule.row);
  EXPECT_TRUE(options.by_variance());
  EXPECT_EQ(options.epsilon, 0.5);
  EXPECT_TRUE(rule.gradient_needs_logits);
  EXPECT_FALSE(rule.head_norm.has_value());
  EXPECT_EQ(make_fused_rule("scalable_softmax", {{"strength", 2.0}}).scale_factor, 2);
  EXPECT_EQ(find_fused_rule("no such rule"), nullptr);
}

TEST(FusedRules, AHeadNormComesBeforeTheRowsOfAnother) {
  const FusedRule rule = make_fused_rule("qk_norm", {{"norm", std::string("l2")}});
  EXPECT_TRUE(std::holds_alternative<SoftmaxOptions>(rule.row));
  EXPECT_TRUE(rule.head_norm->unit);
  EXPECT_TRUE(rule.has(RuleParameterRole::log_query_factor));
  EXPECT_FALSE(rule.has(RuleParameterRole::query_gain));
}

}  // namespace
}  // namespace eureka
