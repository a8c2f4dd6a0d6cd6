// What every diagnostic promises, over all that are registered.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "diagnostics/diagnostic_set.h"
#include "engine/fused_cases.h"
#include "engine/fused_engine.h"
#include "kernels/instruction_set.h"

namespace eureka {
namespace {

std::vector<EngineConfig> configs() {
  std::vector<EngineConfig> all = {base_config(), decoder_config(), vit_config()};
  for (const RuleVariant& variant : rule_variants()) {
    all.push_back(base_config());
    all.back().rule = variant.rule;
    all.back().rule_options = variant.options;
  }
  return all;
}

Batch batch_of(const EngineConfig& config, std::uint64_t step = 0) {
  return random_batch(config.shape, 40, {.masked = config.model == "decoder", .step = step});
}

DiagnosticSet set_of(const std::vector<std::string>& names) {
  DiagnosticSet set;
  for (const std::string& name : names) set.add(name, Registry<Diagnostic>::instance().make(name));
  return set;
}

std::vector<std::string> all_names() { return Registry<Diagnostic>::instance().names(); }

TEST(DiagnosticConformance, NumbersAreDeclaredWithUnitAndMeaning) {
  ASSERT_FALSE(all_names().empty());
  for (const std::string& name : all_names()) {
    SCOPED_TRACE(name);
    std::set<std::string> declared;
    for (const NumberInfo& info : Registry<Diagnostic>::instance().make(name)->numbers()) {
      EXPECT_TRUE(declared.insert(info.name).second) << info.name << " twice";
      EXPECT_FALSE(info.unit.empty()) << info.name;
      EXPECT_FALSE(info.meaning.empty()) << info.name;
    }
    EXPECT_FALSE(declared.empty());
    EXPECT_FALSE(Registry<Diagnostic>::instance().info(name).description.empty());
  }
}

TEST(DiagnosticConformance, ReportsFiniteNumbersUnderDeclaredNamesInAFixedOrder) {
  for (const std::string& name : all_names()) {
    std::set<std::string> declared, reported;
    for (const NumberInfo& info : Registry<Diagnostic>::instance().make(name)->numbers()) declared.insert(info.name);
    for (const EngineConfig& config : configs()) {
      SCOPED_TRACE(name + ": " + text_of(config));
      FusedEngine engine(config);
      DiagnosticSet set = set_of({name});
      const NamedNumbers numbers = set.look(engine, batch_of(config), 3, 16);
      EXPECT_FALSE(numbers.empty());
      std::set<std::string> names;
      for (const auto& [full, value] : numbers) {
        EXPECT_TRUE(std::isfinite(value)) << full;
        EXPECT_TRUE(names.insert(full).second) << full << " twice";
        ASSERT_TRUE(full.starts_with(name + "/")) << full;
        const std::string rest = full.substr(name.size() + 1);
        reported.insert(rest.substr(0, rest.find('/')));
      }
      // A look leaves nothing behind: the next one says the same, bit for bit.
      EXPECT_EQ(set.look(engine, batch_of(config), 3, 16), numbers);
    }
    EXPECT_EQ(reported, declared);
  }
}

// Rows of metrics are the same bytes on every processor with fused multiply-add.
TEST(DiagnosticConformance, NumbersAreTheSameForEveryInstructionSet) {
  const std::string before = instruction_set();
  for (const EngineConfig& config : configs()) {
    SCOPED_TRACE(text_of(config));
    std::optional<NamedNumbers> expected;
    for (const std::string& set : instruction_sets()) {
      choose_instruction_set(set);
      if (!has_fused_multiply_add()) continue;
      FusedEngine engine(config);
      const NamedNumbers numbers = set_of(all_names()).look(engine, batch_of(config), 3, 16);
      if (expected)
        EXPECT_EQ(numbers, *expected) << set;
      else
        expected = numbers;
    }
  }
  choose_instruction_set(before);
}

TEST(DiagnosticConformance, TogetherTheySayWhatEachSaysAlone) {
  const EngineConfig config = base_config();
  FusedEngine engine(config);
  NamedNumbers alone;
  for (const std::string& name : all_names())
    for (const auto& number : set_of({name}).look(engine, batch_of(config), 0, 16)) alone.push_back(number);
  EXPECT_EQ(set_of(all_names()).look(engine, batch_of(config), 0, 16), alone);
}

TEST(DiagnosticConformance, TrainingBitsAreTheSameWithAndWithout) {
  for (const EngineConfig& config : {base_config(), decoder_config(), vit_config()}) {
    FusedEngine seen(config), alone(config);
    DiagnosticSet set = set_of(all_names());
    for (std::int64_t step = 0; step < 3; ++step) {
      const Batch batch = batch_of(config, static_cast<std::uint64_t>(step));
      set.look(seen, batch, step, 16);
      EXPECT_EQ(seen.train_step(batch, {step, 1e-2}).loss, alone.train_step(batch, {step, 1e-2}).loss);
    }
    const EngineState a = seen.export_state(), b = alone.export_state();
    for (std::size_t i = 0; i < a.model.size(); ++i) EXPECT_EQ(a.model[i].values, b.model[i].values);
    for (std::size_t i = 0; i < a.optimizer.size(); ++i) EXPECT_EQ(a.optimizer[i].values, b.optimizer[i].values);
  }
}

}  // namespace
}  // namespace eureka
