// A rule with a kernel and a model with a fused form say the same of themselves on the torch side: name, description,
// options, defaults, parameters.
#include "kernels/fused_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/fused_models.h"
#include "engine/rule_parameters.h"
#include "nn/attention_rule.h"
#include "nn/model.h"
#include "support/rule_variants.h"

namespace eureka {
namespace {

const Registry<AttentionRule>& torch_rules() { return Registry<AttentionRule>::instance(); }

void expect_same(const OptionList& own, const OptionList& expected) {
  ASSERT_EQ(own.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(own[i].name, expected[i].name);
    EXPECT_EQ(own[i].type, expected[i].type);
    EXPECT_EQ(own[i].default_value, expected[i].default_value);
    EXPECT_EQ(own[i].range, expected[i].range);
    EXPECT_EQ(own[i].choices, expected[i].choices);
    EXPECT_EQ(own[i].help, expected[i].help);
  }
}

TEST(FusedRules, AreDeclaredAsOnTheTorchSide) {
  const std::vector<std::string> names = torch_rules().names();
  for (const FusedRuleInfo& rule : fused_rules()) {
    SCOPED_TRACE(rule.name);
    ASSERT_TRUE(std::count(names.begin(), names.end(), rule.name)) << "no rule of that name in src/nn/attention";
    EXPECT_EQ(rule.description, torch_rules().info(std::string(rule.name)).description);
    expect_same(rule.options, torch_rules().info(std::string(rule.name)).options);
  }
}

TEST(FusedModels, AreDeclaredAsOnTheTorchSide) {
  const Registry<Model>& torch_models = Registry<Model>::instance();
  const std::vector<std::string> names = torch_models.names();
  for (const FusedModelInfo& fused : fused_models()) {
    const PluginInfo& model = fused.plugin;
    SCOPED_TRACE(model.name);
    ASSERT_TRUE(std::count(names.begin(), names.end(), model.name)) << "no model of that name in src/nn/models";
    EXPECT_EQ(model.description, torch_models.info(model.name).description);
    expect_same(model.options, torch_models.info(model.name).options);
  }
}

TEST(FusedRules, HaveTheParametersOfTheTorchSide) {
  for (const RuleVariant& variant : rule_variants()) {
    SCOPED_TRACE(name_of(variant));
    const FusedRule rule = make_fused_rule(variant.rule, variant.options);
    const std::vector<ParameterSpec> own = rule_parameters(rule.parameters, 3, 5);
    const std::vector<ParameterSpec> expected =
        torch_rules().make(variant.rule, variant.options)->parameters({.heads = 3, .width = 5});
    ASSERT_EQ(own.size(), expected.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].name, expected[i].name);
      EXPECT_EQ(own[i].shape, expected[i].shape);
      EXPECT_EQ(own[i].group, expected[i].group);
      EXPECT_EQ(own[i].decays, expected[i].decays);
      EXPECT_EQ(initial_values(own[i], 1), initial_values(expected[i], 1));
    }
  }
}

}  // namespace
}  // namespace eureka
