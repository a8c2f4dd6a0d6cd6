// Checkpoints around a moment: which there are, and that they are the same whatever happened to the run.
#include "train/moment_checkpoints.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "support/fake_engine.h"
#include "support/run_files.h"
#include "support/temporary_directory.h"
#include "train/branch.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using Steps = std::vector<std::int64_t>;

Moment rise(double start, double end, double plateau_start = 0) {
  return {.step = (start + end) / 2,
          .rise_start = start,
          .rise_end = end,
          .from = 0.5,
          .to = 1,
          .score = 1,
          .plateau = {plateau_start, start, 0.5}};
}

TEST(StepsAround, AreOnThePlateauBeforeHalfWayAndAfter) {
  EXPECT_THAT(steps_around(rise(1001, 1095, 50), 25, 1175),
              ElementsAre(MomentStep{700, MomentStage::plateau}, MomentStep{1000, MomentStage::before},
                          MomentStep{1050, MomentStage::half_way}, MomentStep{1100, MomentStage::after}));
}

TEST(StepsAround, StayOnAShortPlateauAndBeforeTheConfirmation) {
  EXPECT_THAT(steps_around(rise(200, 300, 120), 50, 301),
              ElementsAre(MomentStep{100, MomentStage::plateau}, MomentStep{200, MomentStage::before},
                          MomentStep{250, MomentStage::half_way}, MomentStep{300, MomentStage::after}));
  EXPECT_THAT(steps_around(rise(200, 300, 120), 50, 300),
              ElementsAre(MomentStep{100, MomentStage::plateau}, MomentStep{200, MomentStage::before},
                          MomentStep{250, MomentStage::half_way}));
}

TEST(StepsAround, CountOnceWhatFallsTogetherAndLeaveOutTheBeginning) {
  EXPECT_THAT(steps_around(rise(20, 30), 100, 90), ElementsAre());
  EXPECT_THAT(steps_around(rise(120, 130), 100, 290),
              ElementsAre(MomentStep{100, MomentStage::before}, MomentStep{200, MomentStage::after}));
}

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

// Its accuracy leaves the plateau at step 80; its weight knows every update.
class SuddenEngine final : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Evaluation evaluate(const Batch& batch, std::int64_t step) override {
    const double noise = 0.004 * static_cast<double>(step % 3);
    const double risen = std::clamp((static_cast<double>(step) - 80) / 15, 0.0, 1.0);
    return {FakeEngine::evaluate(batch, step).loss, 0.55 + 0.44 * risen + noise};
  }
};

MakeParts sudden_parts(Fault fault = {}) {
  return [fault](const RunConfig& config) {
    RunParts parts = fake_parts()(config);
    parts.engine.engine = std::make_unique<SuddenEngine>(fault);
    return parts;
  };
}

class AroundMoment : public testing::Test {
 protected:
  static RunConfig config(const std::string& more = "") {
    const ConfigEntries entries = read_toml(
        "task.name = 'two-step'\n[train]\nsteps = 160\nbatch = 2\neval_every = 5\nvalidation_samples = 4\n"
        "[run]\nseed = 5\ncheckpoint_every = 40\naround_moment = 5\n",
        "short");
    return resolve_config(merge_entries(entries, read_toml(more, "more")), catalog());
  }
  fs::path of(const std::string& name) const { return directory_.path() / name; }

  RunStatus train(const RunConfig& config, const fs::path& run, std::optional<std::int64_t> step = {},
                  const MakeParts& make = sudden_parts()) {
    RunObserver nobody;
    const std::atomic<bool> stop{false};
    return run_training(config, {.directory = run, .resume = true, .resume_step = step}, nobody, stop, make).status;
  }

  // Stopped behind `step`, with a checkpoint.
  static void stop_at(const RunConfig& config, const fs::path& run, std::int64_t step) {
    struct Stopper final : RunObserver {
      std::int64_t at = 0;
      std::atomic<bool> stop{false};
      void on_step(std::int64_t done) override { stop = done >= at; }
    } stopper;
    stopper.at = step;
    run_training(config, {.directory = run, .resume = true, .resume_step = {}}, stopper, stopper.stop, sudden_parts());
  }

  // As if killed in the update behind `step`, if it gets there: no checkpoint.
  void kill_at(const RunConfig& config, const fs::path& run, std::int64_t step) {
    try {
      train(config, run, {}, sudden_parts({step, Fault::Kind::error}));
      EXPECT_EQ(config.train.until, Until::moment);
    } catch (const Error&) {
    }
  }

  void expect_like_whole(const fs::path& run, const std::string& what) {
    EXPECT_EQ(repeatable_files(run), repeatable_files(of("whole"))) << what;
    fs::remove_all(run);
  }

  // In memory where that can be had: what is tried here is not whether the disk keeps what it has.
  TemporaryDirectory directory_{fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()};
};

// The steps that events tell of.
Steps told_by(const fs::path& run) {
  Steps steps;
  for (const RunEvent& event : read_events(run))
    if (const auto* one = std::get_if<MomentCheckpoint>(&event.what)) steps.push_back(one->of);
  return steps;
}

TEST_F(AroundMoment, AreKeptWithAnEventEach) {
  train(config(), of("whole"));
  EXPECT_THAT(told_by(of("whole")), ElementsAre(40, 80, 90, 95));
  EXPECT_THAT(list_checkpoints(of("whole")), ElementsAre(40, 80, 90, 95, 120, 160));
  train(config("run.keep_checkpoints = 1"), of("few"));
  EXPECT_THAT(list_checkpoints(of("few")), ElementsAre(40, 80, 90, 95, 160));
  train(config("run.around_moment = 0"), of("none"));
  EXPECT_THAT(list_checkpoints(of("none")), ElementsAre(40, 80, 120, 160));
  EXPECT_EQ(told_by(of("none")), Steps());
}

TEST_F(AroundMoment, AreCheckpointsLikeOthers) {
  train(config(), of("whole"));
  train(config("run.around_moment = 0\nrun.checkpoint_every = 5"), of("all"));
  for (const char* step : {"step-90", "step-95"})
    for (const char* file : {"model.safetensors", "optimizer.safetensors"})
      EXPECT_EQ(read_file(of("whole") / "checkpoints" / step / file),
                read_file(of("all") / "checkpoints" / step / file));
}

// On the plateau, in the rise, behind it, where the moment is confirmed (115) and after; at checkpoints and between.
constexpr std::int64_t kDisturbed[] = {3, 40, 79, 83, 91, 95, 101, 114, 115, 121, 150};

class AroundMomentDisturbed : public AroundMoment, public testing::WithParamInterface<const char*> {};

TEST_P(AroundMomentDisturbed, AreTheSameWhereverTheRunWasStopped) {
  const RunConfig one = config(GetParam());
  train(one, of("whole"));
  for (const std::int64_t step : kDisturbed) {
    stop_at(one, of("run"), step);
    train(one, of("run"));
    expect_like_whole(of("run"), fmt::format("stopped at {}", step));
  }
}

TEST_P(AroundMomentDisturbed, AreTheSameWhereverTheRunWasKilled) {
  const RunConfig one = config(GetParam());
  train(one, of("whole"));
  for (const std::int64_t step : kDisturbed) {
    kill_at(one, of("run"), step);
    // Twice: the second one resumes from what is around the moment, if it got that far.
    kill_at(one, of("run"), step + 7);
    train(one, of("run"));
    expect_like_whole(of("run"), fmt::format("killed at {}", step));
  }
}

TEST_P(AroundMomentDisturbed, AreTheSameWhenTheRunIsSentBack) {
  const RunConfig one = config(GetParam());
  train(one, of("whole"));
  Steps steps = list_checkpoints(of("whole"));
  steps.push_back(0);
  for (const std::int64_t step : steps) {
    train(one, of("run"));
    train(one, of("run"), step);
    expect_like_whole(of("run"), fmt::format("sent back to {}", step));
  }
}

// Checkpoints that are pruned before the moment is known; a spacing that shares no step with them; a run that ends when
// the moment is known; one that keeps more of its own than it makes after it.
INSTANTIATE_TEST_SUITE_P(Configs, AroundMomentDisturbed,
                         testing::Values("", "run.keep_checkpoints = 1",
                                         "run.keep_checkpoints = 2\nrun.checkpoint_every = 13",
                                         "run.checkpoint_every = 0", "run = {around_moment = 7, checkpoint_every = 30}",
                                         "train = {until = 'moment', after_moment = 0}\nrun.keep_checkpoints = 1",
                                         "train = {until = 'moment', after_moment = 10}\n"
                                         "run = {checkpoint_every = 33, keep_checkpoints = 3}"));

TEST_F(AroundMoment, ABranchWithoutAChangeTellsTheSameAndHasThoseBehindItsBeginning) {
  train(config(), of("whole"));
  for (const std::int64_t step : {40, 80, 90, 95, 120}) {
    for (const char* keep : {"0", "1"}) {
      const fs::path out = of(fmt::format("branch-{}-{}", step, keep));
      const BranchRequest request{.run = of("whole"),
                                  .step = step,
                                  .out = out,
                                  .change = {{"run.keep_checkpoints", {std::int64_t{*keep - '0'}, "test"}}}};
      const Branch branch = create_branch(request, catalog(), sudden_parts());
      if (step < 115) kill_at(branch.config, out, 115);
      stop_at(branch.config, out, 130);
      train(branch.config, out);
      for (const char* file : {"events.jsonl", "metrics.jsonl", "summary.json"})
        EXPECT_EQ(read_file(out / file), read_file(of("whole") / file)) << step << " " << file;
      for (const std::int64_t one : list_checkpoints(of("whole"))) {
        const std::string model = fmt::format("checkpoints/step-{}/model.safetensors", one);
        if (one < step) {
          EXPECT_FALSE(fs::exists(out / model));
        } else if (*keep == '0' || one <= 95) {
          EXPECT_EQ(read_file(out / model), read_file(of("whole") / model)) << step << " " << model;
        }
      }
    }
  }
}

}  // namespace
}  // namespace eureka
