#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "io/json.h"
#include "io/tfevents.h"
#include "support/command.h"

namespace eureka {
namespace {

std::vector<std::string> train(const fs::path& out, std::vector<std::string> overrides) {
  std::vector<std::string> words = {"train", "two-step", "--seed", "1", "--quiet", "--out", out.string()};
  for (std::string& override_text : overrides) {
    words.emplace_back("--set");
    words.push_back(std::move(override_text));
  }
  return words;
}

// The fastest cure of the published ranking at this size: a real moment in a few seconds.
TEST(Train, FindsTheMomentAndStopsAfterIt) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  const CommandResult result =
      eureka_command(train(run, {"attention.rule=qk_norm", "train.until=moment", "train.after_moment=50"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json summary = Json::parse(read_file(run / "summary.json"));
  EXPECT_EQ(summary.at("status"), "finished");
  EXPECT_TRUE(summary.at("moment").at("found").get<bool>());
  EXPECT_NEAR(summary.at("moment").at("plateau_level").get<double>(), 0.55, 0.05);
  EXPECT_GT(summary.at("moment").at("level_after").get<double>(), 0.9);
  EXPECT_LT(summary.at("steps").get<int>(), 2000) << "until = moment did not stop the run";
  EXPECT_GT(summary.at("steps").get<double>(), summary.at("moment").at("step").get<double>() + 50);
  EXPECT_GT(summary.at("final_validation_accuracy").get<double>(), 0.9);
  EXPECT_NE(read_file(run / "events.jsonl").find("\"moment\""), std::string::npos);

  // The same moment from the three forms of the curve.
  for (const fs::path& log : {run, run / "metrics.jsonl", run / "tb"}) {
    const std::string column = log == run / "tb" ? "val/accuracy" : "val_accuracy";
    const CommandResult found =
        eureka_command({"detect", log.string(), "--column", column, "--plateau-level", "0.55", "--json"});
    ASSERT_EQ(found.exit_code, 0) << found.err;
    const Json moments = Json::parse(found.out).at("moments");
    ASSERT_EQ(moments.size(), 1U) << log;
    EXPECT_NEAR(moments[0].at("step").get<double>(), summary.at("moment").at("step").get<double>(), 1) << log;
  }
}

TEST(Train, SaysWhatMemoryItNeedsBeforeItStarts) {
  const TemporaryDirectory directory;
  const std::vector<std::string> few = {"--set",         "train.steps=2", "--set",
                                        "train.batch=2", "--set",         "train.validation_samples=2"};
  std::vector<std::string> words = {"train", "recall", "--out", (directory.path() / "run").string()};
  words.insert(words.end(), few.begin(), few.end());
  const CommandResult result = eureka_command(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::size_t said = result.err.find("needs about"), begun = result.err.find("fused engine");
  EXPECT_LT(said, begun) << result.err;
  EXPECT_NE(said, std::string::npos) << result.err;
  EXPECT_GT(Json::parse(read_file(directory.path() / "run/meta.json")).at("memory_bytes").get<double>(), 1e5);

  words = {"train", "recall",          "--out", (directory.path() / "large").string(), "--set", "model.width=65536",
           "--set", "model.depth=1000"};
  const CommandResult large = eureka_command(words);
  EXPECT_EQ(large.exit_code, 2) << large.err;
  EXPECT_NE(large.err.find("this machine has"), std::string::npos) << large.err;
  EXPECT_NE(large.err.find("smaller"), std::string::npos) << large.err;
}

TEST(Train, TrainsOnOneThousandTokens) {
  const TemporaryDirectory directory;
  const std::vector<std::vector<std::string>> tasks = {{"language", "--set", "task.context=1024"},
                                                       {"recall", "--set", "task.pairs=256", "--set", "task.keys=300"}};
  for (const std::vector<std::string>& task : tasks) {
    std::vector<std::string> words = {"train", "--out", (directory.path() / task[0]).string(), "--quiet"};
    words.insert(words.end(), task.begin(), task.end());
    for (const char* setting :
         {"train.steps=2", "train.batch=2", "train.validation_samples=2", "model.heads=4", "diagnose.names=attention"})
      words.insert(words.end(), {"--set", setting});
    const CommandResult result = eureka_command(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json meta = Json::parse(read_file(directory.path() / task[0] / "meta.json"));
    EXPECT_LT(meta.at("memory_bytes").get<double>(), 150e6) << "whole attention weights would be 32 MB a layer";
  }
}

TEST(Train, TheCopyPresetSolvesItsTask) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  const CommandResult result = eureka_command({"train", "copy", "--out", run.string(), "--quiet", "--seed", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json summary = Json::parse(read_file(run / "summary.json"));
  EXPECT_GT(summary.at("final_validation_accuracy").get<double>(), 0.99);
  EXPECT_FALSE(summary.contains("metric"));
  EXPECT_EQ(summary.at("task_plateau_accuracy"), 1.0 / 16);
}

TEST(Train, TheMlpHasNoMoment) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, {"model.name=mlp", "train.steps=800"})).exit_code, 0);
  const Json summary = Json::parse(read_file(run / "summary.json"));
  EXPECT_FALSE(summary.at("moment").at("found").get<bool>());
  EXPECT_GT(summary.at("final_validation_accuracy").get<double>(), 0.95);
}

TEST(Train, TensorBoardHoldsTheMetrics) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  ASSERT_EQ(eureka_command(train(run, {"train.steps=50"})).exit_code, 0);
  const std::vector<ScalarSeries> series = read_tfevents(run / "tb");
  const auto accuracy =
      std::find_if(series.begin(), series.end(), [](const ScalarSeries& one) { return one.tag == "val/accuracy"; });
  ASSERT_NE(accuracy, series.end());
  ASSERT_EQ(accuracy->points.size(), 3U);
  const std::string last_row =
      read_file(run / "metrics.jsonl").substr(read_file(run / "metrics.jsonl").rfind("{\"step\":50"));
  EXPECT_EQ(accuracy->points.back().step, 50);
  EXPECT_NEAR(accuracy->points.back().value, Json::parse(last_row).at("val_accuracy").get<double>(), 1e-6);
}

TEST(Train, ADivergedRunKeepsItsDataAndSaysSo) {
  const TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  const CommandResult result = eureka_command(
      train(run, {"train.lr=1000", "train.optimizer=sgd", "train.warmup=0", "train.steps=200", "train.eval_every=1"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(Json::parse(read_file(run / "summary.json")).at("status"), "diverged");
  EXPECT_EQ(Json::parse(read_file(run / "meta.json")).at("status"), "diverged");
  EXPECT_NE(read_file(run / "events.jsonl").find("divergence"), std::string::npos);
  EXPECT_FALSE(read_file(run / "metrics.jsonl").empty());
}

TEST(Train, TheResolvedConfigRepeatsTheRun) {
  const TemporaryDirectory directory;
  const fs::path first = directory.path() / "first", second = directory.path() / "second";
  ASSERT_EQ(eureka_command(train(first, {"train.steps=60", "attention.rule=entmax15"})).exit_code, 0);
  ASSERT_EQ(eureka_command({"train", (first / "config.toml").string(), "--quiet", "--out", second.string()}).exit_code,
            0);
  for (const char* name : {"config.toml", "metrics.jsonl", "summary.json"})
    EXPECT_EQ(read_file(first / name), read_file(second / name)) << name;
}

TEST(Train, EveryRuleAndEveryKindOfScaleRuns) {
  const TemporaryDirectory directory;
  const Json rules = Json::parse(eureka_command({"list", "attention", "--json"}).out);
  ASSERT_EQ(rules.size(), 9U);
  for (const Json& rule : rules) {
    const std::string name = rule.at("name").get<std::string>();
    const CommandResult result = eureka_command(
        train(directory.path() / name, {"attention.rule=" + name, "train.steps=30", "attention.scale.kind=learned"}));
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
  }
  for (const std::string kind : {"fixed", "linear", "cosine", "half-cosine"})
    EXPECT_EQ(
        eureka_command(train(directory.path() / ("scale-" + kind), {"attention.scale.kind=" + kind, "train.steps=10"}))
            .exit_code,
        0)
        << kind;
}

TEST(Train, TheFusedEngineNeverLoadsTorch) {
  const TemporaryDirectory directory;
  ::setenv("EUREKA_TORCH_LIBRARY", "/nowhere/libeureka_torch.so", 1);
  const CommandResult fused = eureka_command(train(directory.path() / "fused", {"train.steps=1", "run.engine=fused"}));
  const CommandResult reference =
      eureka_command(train(directory.path() / "reference", {"train.steps=1", "run.engine=reference"}));
  ::unsetenv("EUREKA_TORCH_LIBRARY");
  EXPECT_EQ(fused.exit_code, 0) << fused.err;
  EXPECT_EQ(reference.exit_code, 1);
  EXPECT_NE(reference.err.find("cannot load the torch library"), std::string::npos) << reference.err;
}

TEST(Train, ARunChangesItsEngineAtACheckpoint) {
  EUREKA_NEEDS_TORCH();
  const TemporaryDirectory directory;
  const std::string run = (directory.path() / "run").string();
  ASSERT_EQ(eureka_command(train(run, {"train.steps=60", "run.checkpoint_every=20", "run.engine=fused"})).exit_code, 0);
  const CommandResult changed =
      eureka_command({"train", "--out", run, "--resume", "--step", "40", "--quiet", "--set", "run.engine=reference"});
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_NE(read_file(directory.path() / "run" / "meta.json").find("\"reference\""), std::string::npos);
}

TEST(Train, BothEnginesTellTheSameStory) {
  EUREKA_NEEDS_TORCH();
  const TemporaryDirectory directory;
  const fs::path fused = directory.path() / "fused", reference = directory.path() / "reference";
  ASSERT_EQ(eureka_command(train(fused, {"train.steps=60", "run.engine=fused"})).exit_code, 0);
  ASSERT_EQ(eureka_command(train(reference, {"train.steps=60", "run.engine=reference"})).exit_code, 0);
  const auto last_loss = [](const fs::path& run) {
    const std::string rows = read_file(run / "metrics.jsonl");
    return Json::parse(rows.substr(rows.rfind("{\"step\":60"))).at("val_loss").get<double>();
  };
  EXPECT_NEAR(last_loss(fused), last_loss(reference), 1e-3);
}

TEST(List, StartsFastAndNamesEverything) {
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result = eureka_command({"list"});
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LT(elapsed, std::chrono::milliseconds(300) * EUREKA_PATIENCE)
      << "torch must not be loaded to list what there is";
  for (const char* name : {"two-step", "transformer", "mlp", "resnet9", "norm_softmax", "entmax15", "two-step-hard"})
    EXPECT_NE(result.out.find(name), std::string::npos) << name;
}

void expect_runs(const std::string& kind) {
  const TemporaryDirectory directory;
  const Json presets = Json::parse(eureka_command({"list", "presets", "--json"}).out);
  int run = 0;
  for (const Json& preset : presets) {
    const std::string name = preset.at("name").get<std::string>();
    // They have to be a thousand steps long; tests/cli/branch_test.cpp runs a shorter one.
    if (name == "rescue" || name.starts_with("causes-stuck") || (preset.at("kind") == "study") != (kind == "study"))
      continue;
    EXPECT_FALSE(preset.at("description").get<std::string>().empty()) << name << " does not say what it is for";
    std::vector<std::string> words = {kind, name, "--set", "train.steps=2", "--out", directory.path() / name};
    const auto set = [&](const char* change) { words.insert(words.end(), {"--set", change}); };
    if (kind == "study") words.insert(words.end(), {"--seeds", "1"});
    // Most of their time goes into evaluations, which sanitizers draw out to minutes.
    if (EUREKA_PATIENCE > 1)
      for (const char* change : {"train.batch=4", "train.validation_samples=20"}) set(change);
    // Drawn images instead of fetched ones, a CPU instead of a GPU.
    if (name.find("image") != std::string::npos || name.starts_with("position-"))
      for (const char* change : {"task.data=glyphs", "train.batch=2", "train.validation_samples=2", "run.device=cpu"})
        set(change);
    if (name == "image-paper-cures" || (name == "image-paper" && !EUREKA_BUILT_WITH_TORCH))
      set("run.precision=float32");
    const CommandResult result = eureka_command(words);
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
    ++run;
  }
  EXPECT_GE(run, 5);
}

TEST(Presets, AllTrain) { expect_runs("train"); }
TEST(Presets, AllStudiesRun) { expect_runs("study"); }

TEST(Doctor, SaysThatTorchIsNotBuiltIn) {
  if (EUREKA_BUILT_WITH_TORCH) GTEST_SKIP() << "it is";
  const CommandResult result = eureka_command({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_NE(result.out.find("libtorch     not here"), std::string::npos) << result.out;
}

TEST(Train, WhatNeedsTorchIsRefusedInABuildWithoutIt) {
  if (EUREKA_BUILT_WITH_TORCH) GTEST_SKIP() << "this build has it";
  const TemporaryDirectory directory;
  for (const char* setting : {"run.engine=reference", "run.device=cuda", "run.precision=bfloat16"}) {
    const CommandResult result = eureka_command(train(directory.path() / "run", {setting}));
    EXPECT_EQ(result.exit_code, 2) << setting;
    EXPECT_NE(result.err.find("this program was built without libtorch"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("make build"), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(directory.path() / "run" / "metrics.jsonl"));
  }
}

TEST(Doctor, SpeaksJson) {
  EUREKA_NEEDS_TORCH();
  const CommandResult result = eureka_command({"doctor", "--json"});
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report.at("findings").size(), 6U);
  const Json& libtorch = report.at("libtorch");
  EXPECT_GE(libtorch.at("version").get<std::string>(), "1.13");
  EXPECT_TRUE(fs::exists(libtorch.at("path").get<std::string>())) << libtorch;
  EXPECT_EQ(libtorch.at("devices").at(0), "cpu");
}

}  // namespace
}  // namespace eureka
