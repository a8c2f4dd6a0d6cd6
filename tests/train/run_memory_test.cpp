// What a run says of its memory before it begins, against what it has when it runs.
#include "train/run_memory.h"

#include <gtest/gtest.h>

#include "base/embedded.h"
#include "base/error.h"
#include "support/temporary_directory.h"
#include "train/records/run_meta.h"
#include "train/run.h"
#include "train/run_data.h"

namespace eureka {
namespace {

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

RunConfig config_of(const std::string& text) {
  const std::string few = "train.steps = 4\ntrain.batch = 24\ntrain.eval_every = 2\ntrain.validation_samples = 50\n";
  return resolve_config(read_toml(few + text, "short"), catalog());
}

std::unique_ptr<Task> task_of(const RunConfig& config) {
  return Registry<Task>::instance().make(config.task.name, config.task.options);
}

MemoryNeeds needs_of(const RunConfig& config) { return run_memory(config, *task_of(config)).value(); }

std::size_t bytes_of(const Batch& batch) {
  return (batch.inputs.size() + batch.targets.size()) * sizeof(float) + batch.ids.size() * sizeof(std::int32_t) +
         batch.labels.size() * sizeof(std::int64_t) + batch.asked.size() + batch.visible.size() + batch.wanted.size() +
         batch.roles.size() + batch.latents.size() * sizeof(int);
}

TEST(RunMemory, OfBatchesIsWhatTheTaskDraws) {
  for (const std::string text : {"task.name = 'two-step'", "task.name = 'recall'\nmodel.name = 'decoder'",
                                 "task.name = 'in-context-classification'\nmodel.name = 'decoder'",
                                 "task.name = 'in-context-regression'\nmodel.name = 'decoder'"}) {
    const RunConfig config = config_of(text);
    const auto task = task_of(config);
    Batch batch;
    draw_training_batch(*task, config, 0, batch);
    std::size_t drawn = bytes_of(batch) + bytes_of(draw_validation_batch(*task, config));
    for (const ProbeBatch& probe : draw_probes(*task, config)) drawn += bytes_of(probe.batch);
    EXPECT_NEAR(static_cast<double>(needs_of(config).data), static_cast<double>(drawn),
                0.15 * static_cast<double>(drawn))
        << text;
  }
}

TEST(RunMemory, GrowsWithWhatItIsMadeOf) {
  const std::string base = "task.name = 'recall'\nmodel.name = 'decoder'\nrun.around_moment = 0\n";
  const MemoryNeeds plain = needs_of(config_of(base));
  EXPECT_EQ(plain.looking, 0U);
  EXPECT_EQ(plain.states, 0U);
  EXPECT_GT(needs_of(config_of(base + "diagnose.names = 'attention'")).looking, 0U);
  EXPECT_GT(needs_of(config_of("task.name = 'recall'\nmodel.name = 'decoder'\nrun.around_moment = 1")).states,
            2 * plain.optimizer);
  EXPECT_EQ(needs_of(config_of(base + "run.threads = 3")).activations - plain.activations,
            2 * (needs_of(config_of(base + "run.threads = 2")).activations - plain.activations));
  const MemoryNeeds sgd = needs_of(config_of(base + "train.optimizer = 'sgd'"));
  EXPECT_LT(sgd.optimizer, plain.optimizer);
}

TEST(RunMemory, OfTheReferenceEngineIsUnknown) {
  const RunConfig config = config_of("task.name = 'two-step'\nrun.engine = 'reference'");
  EXPECT_FALSE(run_memory(config, *task_of(config)));
}

TEST(RunMemory, StandsInTheMetaOfARun) {
  const TemporaryDirectory directory;
  const RunConfig config = config_of("task.name = 'two-step'");
  RunObserver observer;
  const std::atomic<bool> stop{false};
  run_training(config, {.directory = directory.path() / "run"}, observer, stop);
  EXPECT_EQ(read_meta(directory.path() / "run").memory_bytes, static_cast<std::int64_t>(needs_of(config).total()));
}

TEST(RunMemory, MoreThanTheMachineHasIsRefusedBeforeAnythingIsLeftBehind) {
  const TemporaryDirectory directory;
  const RunConfig config = config_of("task.name = 'two-step'\nmodel.width = 65536\nmodel.depth = 1000");
  RunObserver observer;
  const std::atomic<bool> stop{false};
  try {
    run_training(config, {.directory = directory.path() / "run"}, observer, stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_NE(std::string(error.what()).find("this run needs"), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("model.width"), std::string::npos) << error.hint();
  }
  EXPECT_FALSE(fs::exists(directory.path() / "run"));
  const RunConfig small = config_of("task.name = 'two-step'");
  EXPECT_NO_THROW(refuse_beyond_machine(small, *task_of(small)));
  EXPECT_THROW(refuse_beyond_machine(small, *task_of(small), std::size_t{1} << 40), Error) << "so many at a time";
}

}  // namespace
}  // namespace eureka
