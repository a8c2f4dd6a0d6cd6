#include "train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/schedule.h"

namespace eureka {
namespace {

// A stand-in for what only the torch library has; of the last one, a program without that library knows the name alone.
const char* const kDeclarations = R"([
 {"kind": "model", "name": "perceptron", "description": "", "options": [
   {"name": "units", "type": "integer", "default": 256, "min": 1, "help": "of a layer"}]},
 {"kind": "attention", "name": "not_built", "description": "", "options": []},
 {"kind": "model", "name": "transformer"},
 {"kind": "model", "name": "not_built"}
])";

const Catalog& catalog() {
  static const Catalog instance{kDeclarations};
  return instance;
}

RunConfig resolve(const std::string& text) { return resolve_config(read_toml(text, "t.toml"), catalog()); }

std::string refusal(const std::string& text) {
  try {
    resolve(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.message();
  }
  return "accepted";
}

const std::string kTask = "[task]\nname = \"two-step\"\n";

TEST(Config, FillsInDefaultsAndReadsBackTheSame) {
  const RunConfig config =
      resolve(kTask + "noise = 1\n[attention]\nrule = \"norm_softmax\"\n[train]\nlr_multiplier.embedding = 0.1\n");
  EXPECT_EQ(std::get<double>(config.task.options.at("noise")), 1.0);
  EXPECT_EQ(std::get<std::string>(config.attention.options.at("deviation")), "std");
  EXPECT_EQ(config.train.lr_multiplier[ParameterGroup::embedding], 0.1);
  const std::string text = to_toml(config);
  EXPECT_EQ(to_toml(resolve(text)), text);
}

TEST(Config, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal(kTask + "[train]\nstepz = 3\n"),
            "t.toml:4:1: unknown key 'train.stepz'\n  did you mean 'train.steps'?  (eureka list options train)");
  EXPECT_EQ(refusal(kTask + "[train]\nsteps = \"many\"\n"),
            "t.toml:4:1: 'train.steps' must be a whole number, not \"many\"\n  train.steps: updates in the whole run");
  EXPECT_THAT(refusal(kTask + "[train]\nsteps = 0\n"),
              testing::StartsWith("t.toml:4:1: 'train.steps' must be between 1 and "));
  EXPECT_EQ(refusal("[task]\nname = \"two-stp\"\n"), "t.toml:2:1: unknown task 'two-stp'\n  did you mean 'two-step'?");
  EXPECT_EQ(refusal(kTask + "[attention]\nrule = \"softmux\"\n"),
            "t.toml:4:1: unknown attention rule 'softmux'\n  did you mean 'softmax'?");
  EXPECT_EQ(refusal("[train]\nsteps = 5\n").substr(0, 23), "'task.name' is missing\n");
  EXPECT_NE(refusal(kTask + "[attention]\nrule = \"softmax\"\ndeviation = \"std\"\n"), "accepted")
      << "softmax has no deviation";
}

TEST(Config, WhatNeedsTheTorchLibraryIsNamedInAProgramWithoutIt) {
  EXPECT_EQ(refusal(kTask + "[model]\nname = \"not_built\"\n"),
            "t.toml:4:1: model 'not_built' needs libtorch, and this program was built without it\n"
            "  'make build' builds with libtorch (cmake -DEUREKA_TORCH=ON)");
  EXPECT_EQ(refusal(kTask + "[attention]\nrule = \"not_built\"\n"), "accepted");
  EXPECT_EQ(refusal(kTask + "[model]\nname = \"transformer\"\n"), "accepted") << "it has a fused form";
}

TEST(Config, AnotherPluginDropsTheOptionsOfTheOneItReplaces) {
  const ConfigEntries base =
      read_toml(kTask + "[model]\nname = \"transformer\"\nwidth = 64\n[attention.scale]\nmultiple = 4\n", "base");
  const auto with = [&](const std::string& text) {
    return resolve_config(merge_entries(base, read_toml(text, "arm")), catalog());
  };
  EXPECT_EQ(std::get<std::int64_t>(with("model.name = \"perceptron\"\nmodel.units = 8\n").model.options.at("units")),
            8);
  EXPECT_EQ(std::get<std::int64_t>(with("model.name = \"transformer\"\n").model.options.at("width")), 64);
  EXPECT_EQ(with("attention.rule = \"norm_softmax\"\n").scale.multiple, 4);
  EXPECT_THROW(with("model.units = 8\n"), Error);
}

TEST(LearningRate, WarmsUpThenFallsAsACosine) {
  TrainOptions options;
  options.steps = 1000;
  options.lr = 1e-3;
  options.min_lr = 1e-6;
  options.warmup = 0.1;
  EXPECT_DOUBLE_EQ(learning_rate(options, 0), 1e-6);
  EXPECT_NEAR(learning_rate(options, 50), (1e-3 + 1e-6) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(learning_rate(options, 100), 1e-3);
  EXPECT_NEAR(learning_rate(options, 550), (1e-3 + 1e-6) / 2, 1e-12);
  EXPECT_NEAR(learning_rate(options, 1000), 1e-6, 1e-12);
  options.schedule = Schedule::constant;
  options.warmup = 200;
  EXPECT_NEAR(learning_rate(options, 100), (1e-3 + 1e-6) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(learning_rate(options, 900), 1e-3);
}

}  // namespace
}  // namespace eureka
