// Interventions in whole runs: what they do to the values, that runs with them resume to the same bytes, and what is
// refused.
#include "train/interventions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "support/run_files.h"
#include "support/temporary_directory.h"
#include "train/branch.h"

namespace eureka {
namespace {

using testing::HasSubstr;

const Catalog& catalog() {
  static const Catalog instance{declarations::files().front().text};
  return instance;
}

constexpr const char* kShort = R"(
task.name = "two-step"
model.dropout = 0.1
train = {steps = 40, batch = 16, lr = 0.01, eval_every = 5, validation_samples = 20}
run = {seed = 3, checkpoint_every = 10}
)";

RunConfig config_with(const std::string& changes) {
  return resolve_config(merge_entries(read_toml(kShort, "short"), read_toml(changes, "changes")), catalog());
}

class InterventionRuns : public testing::Test {
 protected:
  fs::path of(const std::string& name) const { return scratch_.path() / name; }

  static void train(const RunConfig& config, const fs::path& directory, bool resume = false) {
    RunObserver observer;
    const std::atomic<bool> stop{false};
    EXPECT_EQ(run_training(config, {.directory = directory, .resume = resume}, observer, stop).status,
              RunStatus::finished);
  }
  fs::path trained(const std::string& name, const std::string& changes) const {
    train(config_with(changes), of(name));
    return of(name);
  }

  // Stopped after `step`, which leaves a checkpoint there.
  static void train_until(std::int64_t step, const RunConfig& config, const fs::path& directory) {
    struct Stopper final : RunObserver {
      std::atomic<bool> stop{false};
      std::int64_t at = 0;
      void on_step(std::int64_t done) override { stop = done >= at; }
    } stopper;
    stopper.at = step;
    EXPECT_EQ(run_training(config, {.directory = directory}, stopper, stopper.stop).status, RunStatus::interrupted);
  }

  // Runs that are stopped around every boundary, and once more on the way, end with the bytes of one that is not.
  void expect_resumable(const std::string& changes, std::initializer_list<std::int64_t> stops) {
    const RunConfig config = config_with(changes);
    train(config, of("whole"));
    for (const std::int64_t step : stops) {
      const fs::path torn = of("torn" + std::to_string(step));
      train_until(step, config, torn);
      train(config, torn, true);
      EXPECT_EQ(repeatable_files(torn), repeatable_files(of("whole"))) << step;
    }
  }

  static std::map<std::string, std::vector<float>> values(const fs::path& run, std::int64_t step,
                                                          bool optimizer = false) {
    const Checkpoint saved = read_checkpoint(run, step);
    std::map<std::string, std::vector<float>> named;
    for (const StateTensor& tensor : optimizer ? saved.engine.optimizer : saved.engine.model)
      named[tensor.name] = tensor.values;
    return named;
  }

  // "freeze begins 10"
  static std::vector<std::string> interventions_in(const fs::path& run) {
    std::vector<std::string> lines;
    for (const RunEvent& event : read_events(run))
      if (const auto* noted = std::get_if<InterventionNoted>(&event.what))
        lines.push_back(noted->kind + " " + noted->phase + " " + std::to_string(event.step));
    return lines;
  }

  TemporaryDirectory scratch_;
};

TEST_F(InterventionRuns, FrozenParametersAndTheirOptimizerRestWhileOthersMove) {
  const fs::path run =
      trained("run", "intervene.freeze = {groups = 'query_key, head', layers = '', from = 10, until = 30}");
  for (const bool optimizer : {false, true}) {
    const auto before = values(run, 10, optimizer), within = values(run, 20, optimizer),
               at_end = values(run, 30, optimizer), after = values(run, 40, optimizer);
    for (const auto& [name, tensor] : before) {
      const bool rests = name.find("attn.q.") != std::string::npos || name.find("attn.k.") != std::string::npos ||
                         name.find("head.") != std::string::npos;
      EXPECT_EQ(within.at(name) == tensor, rests) << name;
      EXPECT_EQ(at_end.at(name) == tensor, rests) << name;
      EXPECT_NE(after.at(name), at_end.at(name)) << name << " moves again";
    }
  }
  EXPECT_THAT(interventions_in(run), testing::ElementsAre("freeze begins 10", "freeze ends 30"));
}

TEST_F(InterventionRuns, FreezingChoosesBlocksAndSingleProjections) {
  const fs::path run = trained("run", "intervene.freeze = {groups = 'query', layers = '1'}");
  const auto before = values(run, 10), after = values(run, 40);
  for (const auto& [name, tensor] : before)
    EXPECT_EQ(after.at(name) == tensor, name == "blocks.1.attn.q.weight") << name;
}

TEST_F(InterventionRuns, FrozenFromTheStartIsTheInitialValue) {
  for (const char* optimizer : {"sgd", "adam", "adamw"}) {
    const RunConfig config =
        config_with(std::string("intervene.freeze.groups = 'all'\ntrain.optimizer = '") + optimizer + "'");
    train(config, of(optimizer));
    const RunParts parts = make_parts(config);
    for (const StateTensor& tensor : parts.engine.engine->export_state().model)
      EXPECT_EQ(values(of(optimizer), 40).at(tensor.name), tensor.values) << tensor.name;
  }
}

TEST_F(InterventionRuns, RedrawnValuesAreNewRepeatableAndWithoutMomentum) {
  const std::string base = "train.steps = 6\nrun.checkpoint_every = 1\n",
                    redraw = base + "intervene.redraw = {groups = 'query_key', layers = '0', at = 4, draw = ";
  const fs::path run = trained("run", redraw + "0}"), again = trained("again", redraw + "0}"),
                 other = trained("other", redraw + "1}"), plain = trained("plain", base);
  EXPECT_EQ(repeatable_files(run), repeatable_files(again));
  EXPECT_EQ(values(run, 4), values(plain, 4)) << "the checkpoint of step 4 is older than what happens there";
  const std::string q = "blocks.0.attn.q.weight";
  EXPECT_NE(values(run, 5).at(q), values(plain, 5).at(q));
  EXPECT_NE(values(run, 5).at(q), values(other, 5).at(q));
  // From zero, one update leaves m at a tenth of the gradient, and v at a thousandth of its square.
  const auto state = values(run, 5, true);
  for (std::size_t i = 0; i < state.at("m." + q).size(); ++i) {
    const float m = state.at("m." + q)[i], v = state.at("v." + q)[i];
    EXPECT_NEAR(v, 0.001F * (10 * m) * (10 * m), 1e-5F * v + 1e-20F);
  }
  EXPECT_THAT(interventions_in(run), testing::ElementsAre("redraw happens 4"));
}

TEST_F(InterventionRuns, RedrawingLooksLikeTheFirstDraw) {
  const RunParts parts = make_parts(config_with(""));
  for (const ParameterSpec& spec : parts.engine.engine->parameters()) {
    if (spec.name != "blocks.0.attn.q.weight") continue;
    const std::vector<float> first = initial_values(spec, 3), second = redrawn_values(spec, 3, 0);
    EXPECT_NE(first, second);
    const auto deviation = [](const std::vector<float>& values) {
      double square = 0;
      for (const float value : values) square += static_cast<double>(value) * value;
      return std::sqrt(square / static_cast<double>(values.size()));
    };
    EXPECT_NEAR(deviation(first) / deviation(second), 1, 0.1);
  }
}

TEST_F(InterventionRuns, TransplantedValuesAreThoseOfTheOtherRun) {
  const fs::path source = trained("source-4", "run.seed = 4");
  const std::string change =
      "intervene.transplant = {run = '" + of("source-4").string() +
      "', step = 30, groups = 'query_key', at = 20}\nintervene.freeze = {groups = 'all', from = 20}";
  const fs::path run = trained("run", change);
  const auto there = values(source, 30), here = values(run, 40), before = values(run, 20);
  for (const auto& [name, tensor] : here) {
    const bool taken = name.find("attn.q.") != std::string::npos || name.find("attn.k.") != std::string::npos;
    EXPECT_EQ(tensor, taken ? there.at(name) : before.at(name)) << name;
  }
  EXPECT_EQ(values(run, 40, true), values(run, 20, true)) << "the optimizer's state is the run's own";
  EXPECT_THAT(interventions_in(run), testing::ElementsAre("transplant happens 20", "freeze begins 20"));
  const RunEvent first = read_events(run).front();
  EXPECT_EQ(first.step, 0);
  EXPECT_EQ(std::get<TransplantSource>(first.what).run, of("source-4").string());
  EXPECT_EQ(std::get<TransplantSource>(first.what).checkpoint, 30);
}

TEST_F(InterventionRuns, TheSeedNamesTheRunToTransplantFrom) {
  trained("source-3", "run.seed = 8");
  const fs::path run = trained("run", "intervene.transplant = {run = '" + of("source-{seed}").string() + "'}");
  EXPECT_EQ(std::get<TransplantSource>(read_events(run).front().what).run, of("source-3").string());
  EXPECT_EQ(std::get<TransplantSource>(read_events(run).front().what).checkpoint, 40) << "the last";
}

TEST_F(InterventionRuns, ASourceThatChangesIsRefusedOnlyWhileItIsNeeded) {
  trained("source", "run.seed = 4");
  const RunConfig config = config_with("intervene.transplant = {run = '" + of("source").string() + "', at = 20}");
  train_until(15, config, of("before"));
  train_until(25, config, of("after"));
  // The last checkpoint is another now.
  remove_checkpoint(of("source"), 40);
  try {
    train(config, of("before"), true);
    FAIL() << "another source";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("has changed since the run began: it was step 40"));
  }
  EXPECT_TRUE(list_checkpoints(of("before")).back() == 15) << "and nothing was touched";
  train(config, of("after"), true);
  // From the start it is another run, of what lies there now.
  RunObserver observer;
  const std::atomic<bool> stop{false};
  run_training(config, {.directory = of("before"), .resume = true, .resume_step = 0}, observer, stop);
  EXPECT_EQ(std::get<TransplantSource>(read_events(of("before")).front().what).checkpoint, 30);
}

TEST_F(InterventionRuns, RescalingChangesTheUpdatesWhileItIsInForce) {
  const std::string base = "train = {steps = 6, clip = 0.5}\nrun.checkpoint_every = 1\n";
  const fs::path plain = trained("plain", base);
  for (const char* how : {"block-mean", "heads-to-value"}) {
    const fs::path run =
        trained(how, base + "intervene.gradients = {rescale = '" + std::string(how) + "', from = 4, until = 5}");
    EXPECT_EQ(values(run, 4), values(plain, 4));
    EXPECT_NE(values(run, 5), values(plain, 5));
    EXPECT_THAT(interventions_in(run), testing::ElementsAre("gradients begins 4", "gradients ends 5"));
  }
}

constexpr const char* kSeveral = R"(
intervene.gradients = {rescale = 'heads-to-value', from = 7, until = 23}
intervene.freeze = {groups = 'value, mlp', from = 12, until = 25}
intervene.redraw = {groups = 'query_key', at = 20}
)";

TEST_F(InterventionRuns, ResumeToTheSameBytesAcrossTheirBoundaries) {
  trained("source", "run.seed = 4");
  expect_resumable(
      kSeveral + ("intervene.transplant = {run = '" + of("source").string() + "', groups = 'head', at = 15}"),
      {1, 7, 8, 12, 15, 16, 20, 21, 25});
}

TEST_F(InterventionRuns, OnHeadsResumeToTheSameBytesAcrossTheirBoundaries) {
  expect_resumable(R"(
intervene.attention = {kind = 'oracle', layers = 1, heads = 0, from = 10, until = 22}
intervene.scale = {multiple = 3, heads = 1, from = 5, until = 25}
diagnose.names = 'attention')",
                   {4, 5, 10, 11, 21, 22, 25});
  EXPECT_THAT(interventions_in(of("whole")),
              testing::ElementsAre("scale begins 5", "attention begins 10", "attention ends 22", "scale ends 25"));
}

// The row of a step is of the model as that step finds it.
TEST_F(InterventionRuns, OnHeadsAreInForceInTheRowsOfTheirSteps) {
  const fs::path plain = trained("plain", "");
  for (const std::string change :
       {"attention = {kind = 'uniform', from = 10}", "attention = {kind = 'oracle', from = 10}",
        "attention = {kind = 'role', role = 'indicator', from = 10}",
        "scale = {multiple = 8, layers = '0', from = 10}"}) {
    const fs::path run = trained("run", "intervene." + change);
    const std::vector<MetricsRow> before = read_metrics(plain), after = read_metrics(run);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(after[i].at("val_loss") == before[i].at("val_loss"), before[i].step < 10) << change << before[i].step;
    EXPECT_EQ(values(run, 10), values(plain, 10));
    fs::remove_all(run);
  }
}

TEST_F(InterventionRuns, DiagnosticsSeeAttentionAsItIsFixed) {
  const fs::path run = trained("run",
                               "diagnose.names = 'attention'\n"
                               "intervene.attention = {kind = 'uniform', layers = 0, heads = 1, from = 20}");
  for (const MetricsRow& row : read_metrics(run)) {
    EXPECT_EQ(row.at("attention/entropy/layer0/head1") > 1 - 1e-6, row.step >= 20) << row.step;
    EXPECT_EQ(std::abs(row.at("attention/largest_weight/layer0/head1") - 0.2) < 1e-7, row.step >= 20) << "of 5 keys";
    EXPECT_LT(row.at("attention/entropy/layer0/head0"), 1 - 1e-6);
  }
}

TEST_F(InterventionRuns, GoThroughBranches) {
  const fs::path parent = trained("parent", "");
  const BranchRequest request{.run = parent,
                              .step = 20,
                              .out = of("branch"),
                              .change = read_toml("intervene.redraw = {groups = 'query_key', at = 20}\n"
                                                  "intervene.freeze = {groups = 'value'}",
                                                  "change")};
  const Branch branch = create_branch(request, catalog());
  train(branch.config, request.out, true);
  EXPECT_THAT(interventions_in(request.out), testing::ElementsAre("redraw happens 20", "freeze begins 20"));
  EXPECT_EQ(values(request.out, 20), values(parent, 20));
  EXPECT_EQ(values(request.out, 40).at("blocks.1.attn.v.weight"), values(parent, 20).at("blocks.1.attn.v.weight"));
  // Sent back to where it begins, it ends the same.
  const auto whole = repeatable_files(request.out);
  RunObserver observer;
  const std::atomic<bool> stop{false};
  run_training(branch.config, {.directory = request.out, .resume = true, .resume_step = 20}, observer, stop);
  EXPECT_EQ(repeatable_files(request.out), whole);
}

std::string refusal(const std::string& changes) {
  try {
    config_with(changes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.message();
  }
  return "accepted";
}

TEST(Interventions, NameWhatIsWrong) {
  EXPECT_THAT(refusal("intervene.freeze.groups = 'query_kye'"),
              HasSubstr("'intervene.freeze.groups': there is no group 'query_kye'\n  did you mean 'query_key'?"));
  EXPECT_THAT(refusal("intervene.freez.groups = 'value'"), HasSubstr("did you mean 'intervene.freeze.groups'?"));
  EXPECT_THAT(refusal("intervene.gradients.rescale = 'blockmean'"), HasSubstr("did you mean 'block-mean'?"));
  EXPECT_THAT(refusal("intervene.freeze = {groups = 'value', from = 10, until = 10}"),
              HasSubstr("'intervene.freeze.until': step 10 is not after step 10, where it begins"));
  EXPECT_THAT(refusal("intervene.freeze = {groups = 'value', from = 40}"),
              HasSubstr("a run of 40 steps ends before step 40"));
  EXPECT_THAT(refusal("intervene.redraw = {groups = 'value', at = 40}"),
              HasSubstr("'intervene.redraw.at': a run of 40 steps has no update 40"));
  EXPECT_THAT(refusal("intervene.redraw = {groups = 'value', layers = '0, 2'}"),
              HasSubstr("'intervene.redraw.layers': there is no layer 2\n  the model has 2, counted from 0"));
  EXPECT_THAT(refusal("intervene.redraw = {groups = 'value', layers = 'last'}"), HasSubstr("must be whole numbers"));
  EXPECT_THAT(refusal("intervene.transplant.run = 'runs/{sede}'"), HasSubstr("did you mean '{seed}'?"));
  EXPECT_THAT(refusal("model.name = 'mlp'\nintervene.gradients.rescale = 'block-mean'"),
              HasSubstr("model 'mlp' has no attention"));
  EXPECT_THAT(refusal("model.name = 'mlp'\nintervene.attention.kind = 'uniform'"), HasSubstr("has no attention"));
  EXPECT_THAT(refusal("model.name = 'mlp'\nintervene.scale.multiple = 2"), HasSubstr("has no attention"));
  EXPECT_THAT(refusal("intervene.attention = {kind = 'role', role = 'indicators'}"),
              HasSubstr("task 'two-step' has no role 'indicators'\n  did you mean 'indicator'?"));
  EXPECT_THAT(refusal("intervene.attention.kind = 'role'"), HasSubstr("known: target, distractor, indicator"));
  EXPECT_THAT(refusal("intervene.attention.kind = 'orakle'"), HasSubstr("did you mean 'oracle'?"));
  EXPECT_THAT(refusal("intervene.attention = {kind = 'uniform', heads = 2}"),
              HasSubstr("'intervene.attention.heads': there is no head 2\n  the model has 2, counted from 0"));
  EXPECT_THAT(refusal("intervene.scale = {multiple = 2, layers = '7'}"), HasSubstr("there is no layer 7"));
  EXPECT_THAT(refusal("intervene.scale = {multiple = 2, from = 30, until = 20}"),
              HasSubstr("step 20 is not after step 30"));
  EXPECT_EQ(refusal("intervene.freeze = {from = 10, until = 20}"), "accepted") << "of no effect without groups";
}

TEST(Interventions, TakeALayerAsANumberToo) {
  EXPECT_EQ(config_with("intervene.freeze = {groups = 'value', layers = 1}").intervene.freeze.layers, "1");
}

class InterventionErrors : public InterventionRuns {
 protected:
  // What a run says that gets beyond its config, and leaves no directory behind.
  std::string refusal_to_run(const std::string& changes) {
    try {
      train(config_with(changes), of("refused"));
    } catch (const Error& error) {
      EXPECT_FALSE(fs::exists(of("refused")));
      EXPECT_EQ(error.kind(), ErrorKind::config);
      return error.message();
    }
    return "accepted";
  }
};

TEST_F(InterventionErrors, ARunThatCannotInterveneIsRefusedBeforeItBegins) {
  trained("source", "model.width = 16");
  trained("shallow", "model.depth = 1");
  EXPECT_THAT(refusal_to_run("intervene.freeze.groups = 'convolution'"),
              HasSubstr("this model has no parameters of group 'convolution'\n  there are: cls, embedding, "));
  EXPECT_THAT(refusal_to_run("intervene.freeze = {groups = 'head', layers = '0'}"), HasSubstr("in blocks 0"));
  EXPECT_THAT(refusal_to_run("intervene.transplant.run = '" + of("nowhere").string() + "'"),
              HasSubstr("'intervene.transplant.run' has no checkpoint\n  there is no such directory"));
  EXPECT_THAT(refusal_to_run("intervene.transplant = {run = '" + of("source").string() + "', step = 33}"),
              HasSubstr("there is no checkpoint of step 33\n  there are: 10, 20, 30, 40"));
  EXPECT_THAT(refusal_to_run("intervene.transplant = {run = '" + of("source").string() + "'}"),
              HasSubstr("'blocks.0.attn.q.weight' is 16 x 16 there and 32 x 32 here"));
  EXPECT_THAT(refusal_to_run("intervene.transplant = {run = '" + of("shallow").string() + "'}"),
              HasSubstr("that run's model has no 'blocks.1.attn.q.weight'"));
}

TEST_F(InterventionErrors, ABranchRefusesWhatLiesBeforeIt) {
  const fs::path parent = trained("parent", "intervene.redraw = {groups = 'value', at = 5}");
  const auto refusal_to_branch = [&](const std::string& change) -> std::string {
    try {
      create_branch({.run = parent, .step = 20, .out = of("branch"), .change = read_toml(change, "change")}, catalog());
    } catch (const Error& error) {
      EXPECT_FALSE(fs::exists(of("branch")));
      return error.message();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal_to_branch("intervene.redraw = {groups = 'head'}"),
              HasSubstr("'intervene.redraw.at' = 5 lies before step 20, where the branch begins"));
  EXPECT_THAT(refusal_to_branch("intervene.freeze = {groups = 'head', until = 20}"),
              HasSubstr("'intervene.freeze.until' = 20 lies before step 20"));
  EXPECT_THAT(refusal_to_branch("intervene.transplant = {run = 'nowhere', at = 30}"), HasSubstr("no such directory"));
  EXPECT_EQ(refusal_to_branch("intervene.freeze.groups = 'head'"), "accepted") << "what the run did stays done";
}

}  // namespace
}  // namespace eureka
