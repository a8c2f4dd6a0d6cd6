// What every diagnostic promises, over all that are registered.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "diagnostics/diagnostic_set.h"
#include "engine/fused_cases.h"
#include "engine/fused_engine.h"
#include "kernels/instruction_set.h"

namespace eureka {
namespace {

// A model and what it is shown; `task` is nullptr where nobody knows what the tokens mean.
struct Case {
  EngineConfig config;
  std::shared_ptr<const Task> task;

  Batch batch(std::uint64_t step = 0) const {
    if (task == nullptr) return random_batch(config.shape, 40, {.masked = config.model == "decoder", .step = step});
    Batch batch;
    task->sample({.seed = 1, .step = step, .samples = 40}, batch);
    return batch;
  }
  LookRequest request(const Batch& batch_at_hand, std::int64_t step = 3) const {
    return {.batch = batch_at_hand,
            .step = step,
            .samples = 16,
            .task = task.get(),
            .last_update = LastUpdate{.step = step - 1, .lr = 1e-2}};
  }
};

Case task_case(EngineConfig config, const std::string& task, const OptionValues& options = {}) {
  Case one{std::move(config), Registry<Task>::instance().make(task, options)};
  one.config.shape = one.task->shape();
  return one;
}

std::vector<Case> task_cases() {
  EngineConfig vit = vit_config();
  vit.model_options["patch"] = std::int64_t{14};
  return {task_case(base_config(), "two-step"), task_case(decoder_config(), "copy"),
          task_case(vit, "digit-pair", {{"data", std::string("glyphs")}})};
}

std::vector<Case> cases() {
  std::vector<Case> all = task_cases();
  for (const EngineConfig& config : {base_config(), decoder_config(), everywhere_config(), vit_config()})
    all.push_back({config, nullptr});
  for (const RuleVariant& variant : rule_variants()) {
    all.push_back(task_case(base_config(), "two-step"));
    all.back().config.rule = variant.rule;
    all.back().config.rule_options = variant.options;
  }
  return all;
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
    EXPECT_FALSE(Registry<Diagnostic>::instance().info(name).description.empty());
  }
}

// `looks` at a model that has been trained for some steps.
template <class Looks>
void after_some_steps(const Case& one, const Looks& looks) {
  FusedEngine engine(one.config);
  for (std::int64_t step = 0; step < 3; ++step)
    engine.train_step(one.batch(static_cast<std::uint64_t>(step)), {step, 1e-2});
  looks(engine);
}

TEST(DiagnosticConformance, UnitsAreFoundByName) {
  for (const std::string& name : Registry<Diagnostic>::instance().names())
    for (const NumberInfo& info : Registry<Diagnostic>::instance().make(name)->numbers())
      EXPECT_EQ(unit_of_number(name, info.name), info.unit) << name << "/" << info.name;
  EXPECT_EQ(unit_of_number("attention", "of a later eureka"), "");
  EXPECT_EQ(unit_of_number("later", "entropy"), "");
}

TEST(DiagnosticConformance, ReportsFiniteNumbersUnderDeclaredNamesInAFixedOrder) {
  for (const std::string& name : all_names()) {
    std::set<std::string> declared, reported;
    bool files = false;
    for (const NumberInfo& info : Registry<Diagnostic>::instance().make(name)->numbers()) declared.insert(info.name);
    for (const Case& one : cases()) {
      SCOPED_TRACE(name + ": " + text_of(one.config));
      after_some_steps(one, [&](Engine& engine) {
        DiagnosticSet set = set_of({name});
        const Batch batch = one.batch(3);
        const LookResult look = set.look(engine, one.request(batch));
        std::set<std::string> names;
        for (const auto& [full, value] : look.numbers) {
          EXPECT_TRUE(std::isfinite(value)) << full;
          EXPECT_TRUE(names.insert(full).second) << full << " twice";
          ASSERT_TRUE(full.starts_with(name + "/")) << full;
          const std::string rest = full.substr(name.size() + 1);
          reported.insert(rest.substr(0, rest.find('/')));
        }
        for (const LookFile& file : look.files) {
          files = true;
          EXPECT_TRUE(file.name.starts_with(name + "/")) << file.name;
          EXPECT_FALSE(file.bytes.empty());
        }
        EXPECT_TRUE(one.task == nullptr || !look.numbers.empty() || !look.files.empty() || one.config.rule == "linear");
        // A look leaves nothing behind: the next one says the same, bit for bit.
        EXPECT_EQ(set.look(engine, one.request(batch)).numbers, look.numbers);
      });
    }
    EXPECT_EQ(reported, declared);
    EXPECT_TRUE(files || !declared.empty()) << name << " says nothing at all";
  }
}

// Rows of metrics are the same bytes on every processor with fused multiply-add.
TEST(DiagnosticConformance, NumbersAndFilesAreTheSameForEveryInstructionSet) {
  const std::string before = instruction_set();
  for (const Case& one : cases()) {
    SCOPED_TRACE(text_of(one.config));
    std::optional<LookResult> expected;
    for (const std::string& set : instruction_sets()) {
      choose_instruction_set(set);
      if (!has_fused_multiply_add()) continue;
      after_some_steps(one, [&](Engine& engine) {
        const Batch batch = one.batch(3);
        const LookResult look = set_of(all_names()).look(engine, one.request(batch));
        if (!expected) expected = look;
        EXPECT_EQ(look.numbers, expected->numbers) << set;
        ASSERT_EQ(look.files.size(), expected->files.size());
        for (std::size_t i = 0; i < look.files.size(); ++i) EXPECT_EQ(look.files[i].bytes, expected->files[i].bytes);
      });
    }
  }
  choose_instruction_set(before);
}

TEST(DiagnosticConformance, TogetherTheySayWhatEachSaysAlone) {
  for (const Case& one : task_cases())
    after_some_steps(one, [&](Engine& engine) {
      const Batch batch = one.batch(3);
      NamedNumbers alone;
      for (const std::string& name : all_names())
        for (const auto& number : set_of({name}).look(engine, one.request(batch)).numbers) alone.push_back(number);
      EXPECT_EQ(set_of(all_names()).look(engine, one.request(batch)).numbers, alone);
    });
}

// One token has nothing to choose: means over rows are of nothing, and left out.
TEST(DiagnosticConformance, OneTokenHasNoRowsToTakeMeansOf) {
  Case one{decoder_config(), nullptr};
  one.config.shape.tokens = 1;
  FusedEngine engine(one.config);
  const Batch batch = random_batch(one.config.shape, 40);
  const NamedNumbers numbers = set_of(all_names()).look(engine, one.request(batch)).numbers;
  const std::map<std::string, double> named(numbers.begin(), numbers.end());
  for (const auto& [name, value] : named) EXPECT_TRUE(std::isfinite(value)) << name;
  for (const char* absent : {"attention/entropy/layer0", "jacobian/trace/layer0", "attenuation/through_softmax/layer0",
                             "attenuation/reachable/layer0", "representation/cosine/layer0"})
    EXPECT_FALSE(named.contains(absent)) << absent;
  for (const char* present : {"attention/q_norm/layer0", "attenuation/d_v/layer0", "gradients/norm/v/layer1"})
    EXPECT_TRUE(named.contains(present)) << present;
}

// Also when they are shown the gradient of the step itself, between gradient() and update().
TEST(DiagnosticConformance, TrainingBitsAreTheSameWithAndWithout) {
  std::vector<Case> all = task_cases();
  all.push_back({mlp_config(), nullptr});
  all.push_back({resnet_config(), nullptr});
  for (const Case& one : all) {
    SCOPED_TRACE(text_of(one.config));
    FusedEngine seen(one.config), alone(one.config);
    DiagnosticSet set = set_of(all_names());
    for (std::int64_t step = 0; step < 4; ++step) {
      const Batch batch = one.batch(static_cast<std::uint64_t>(step));
      LookRequest request = one.request(batch, step);
      if (step == 0) request.last_update.reset();
      set.look(seen, request);
      double loss = 0;
      if (step % 2 == 0) {
        loss = seen.train_step(batch, {step, 1e-2}).loss;
      } else {
        loss = seen.gradient(batch, step).loss;
        request.gradient_pending = true;
        EXPECT_FALSE(set.look(seen, request).numbers.empty());
        seen.update({step, 1e-2});
      }
      EXPECT_EQ(loss, alone.train_step(batch, {step, 1e-2}).loss);
    }
    // A gradient that no update follows teaches nothing, running statistics included.
    seen.gradient(one.batch(9), 4);
    const EngineState a = seen.export_state(), b = alone.export_state();
    for (std::size_t i = 0; i < a.model.size(); ++i) EXPECT_EQ(a.model[i].values, b.model[i].values);
    for (std::size_t i = 0; i < a.optimizer.size(); ++i) EXPECT_EQ(a.optimizer[i].values, b.optimizer[i].values);
  }
}

// The last update as it is worked out from what the optimizer left, against the difference of the values themselves.
TEST(DiagnosticConformance, TheLastUpdateIsWhatHasChanged) {
  struct Updates final : ObservationSink {
    void see(const ObservationView&) override {}
    void see_parameter(const ParameterView& view) override {
      for (std::int64_t row = 0; row < view.rows; ++row)
        for (std::int64_t i = 0; i < view.columns; ++i) {
          values[view.spec->name].push_back(view.values[row * view.stride + i]);
          if (view.update != nullptr) updates[view.spec->name].push_back(view.update[row * view.stride + i]);
        }
    }
    std::map<std::string, std::vector<float>> values, updates;
  };
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd}) {
    EngineConfig config = base_config();
    config.optimizer.kind = kind;
    config.optimizer.weight_decay = 0.3;
    config.lr_multiplier.factor[static_cast<std::size_t>(ParameterGroup::value)] = 0.5;
    FusedEngine engine(config);
    Updates before, after;
    for (std::int64_t step = 0; step < 3; ++step) {
      const Batch batch = random_batch(config.shape, 40, {.step = static_cast<std::uint64_t>(step)});
      if (step == 2) engine.observe(batch, step, {.parameters = ParameterGradients::own_pass}, before);
      engine.train_step(batch, {step, 1e-2});
    }
    engine.observe(random_batch(config.shape, 40), 3,
                   {.parameters = ParameterGradients::own_pass, .last_update = LastUpdate{.step = 2, .lr = 1e-2}},
                   after);
    EXPECT_TRUE(before.updates.empty());
    for (const auto& [name, updates] : after.updates)
      for (std::size_t i = 0; i < updates.size(); ++i)
        EXPECT_NEAR(updates[i], after.values.at(name)[i] - before.values.at(name)[i],
                    1e-6F * std::max(1.0F, std::abs(after.values.at(name)[i])))
            << name;
  }
}

}  // namespace
}  // namespace eureka
