// The complete, checked configuration of one run: a pure function of it and nothing else decides every bit.
//
//   RunConfig config = resolve_config(read_toml(text, "two-step.toml"), catalog);
//   write: to_toml(config) is complete, and resolves to the same config again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/choose_engine.h"
#include "io/toml.h"
#include "train/catalog.h"
#include "train/intervention_options.h"

namespace eureka {

enum class Schedule { cosine, constant };
constexpr auto enum_names(Schedule) { return std::array{"cosine", "constant"}; }

enum class Until { end, moment };
constexpr auto enum_names(Until) { return std::array{"end", "moment"}; }

struct TrainOptions {
  std::int64_t steps = 2500;
  std::int64_t batch = 128;
  double lr = 1e-3;
  double min_lr = 1e-6;
  double warmup = 0.05;
  Schedule schedule = Schedule::cosine;
  OptimizerOptions optimizer;
  double label_smoothing = 0.1;
  double clip = 0;
  std::int64_t eval_every = 25;
  std::int64_t validation_samples = 1000;
  Until until = Until::end;
  std::int64_t after_moment = 250;
  GroupFactors lr_multiplier;

  template <class V>
  void visit(V& v) {
    v("steps", steps, Range{1, 1e9}, "updates in the whole run");
    v("batch", batch, Range{1, 1e6}, "samples per update");
    v("lr", lr, Range{0, 1e3}, "highest learning rate");
    v("min_lr", min_lr, Range{0, 1e3}, "where the warm-up starts and the cosine ends");
    v("warmup", warmup, Range{0, 1e9}, "linear warm-up: a share of all steps if below 1, else a number of steps");
    v("schedule", schedule, "of the learning rate after the warm-up");
    v("optimizer", optimizer.kind, "the update rule");
    v("beta1", optimizer.beta1, Range{0, 0.999999}, "Adam: decay of the first moment");
    v("beta2", optimizer.beta2, Range{0, 0.999999}, "Adam: decay of the second moment");
    v("epsilon", optimizer.epsilon, Range{0, 1}, "Adam: added to the root of the second moment");
    v("momentum", optimizer.momentum, Range{0, 0.999999}, "SGD: momentum");
    v("weight_decay", optimizer.weight_decay, Range{0, 10}, "on matrices only; decoupled in AdamW");
    v("label_smoothing", label_smoothing, Range{0, 0.999}, "share of the label spread over all classes");
    v("clip", clip, Range{0, 1e9}, "largest norm of the gradient; 0: no clipping");
    v("eval_every", eval_every, Range{1, 1e9}, "steps between validations; each is one row of metrics.jsonl");
    v("validation_samples", validation_samples, Range{1, 1e7}, "size of the fixed validation set");
    v("until", until, "train to the end, or stop after_moment steps after a confirmed moment");
    v("after_moment", after_moment, Range{0, 1e9}, "steps to go on after a confirmed moment");
    v.table("lr_multiplier", lr_multiplier);
  }
};

enum class Keep { all, summary };
constexpr auto enum_names(Keep) { return std::array{"all", "summary"}; }

struct RunOptions {
  std::int64_t seed = 0;
  EngineChoice engine = EngineChoice::automatic;
  int threads = 1;
  std::string device = "cpu";
  Precision precision = Precision::float32;
  std::int64_t checkpoint_every = 500;
  std::int64_t keep_checkpoints = 0;
  std::int64_t around_moment = 0;
  Keep keep = Keep::all;

  template <class V>
  void visit(V& v) {
    v("seed", seed, Range{0, 9e15}, "of data and initial weights");
    v("engine", engine,
      "what computes the steps: fused (CPU, float32, fast), reference (libtorch), or the best that fits");
    v("threads", threads, Range{1, 1024}, "CPU threads of this run");
    v("device", device, "cpu, cuda, cuda:1, ...");
    v("precision", precision, "bfloat16: products in 16 bits, the rest in 32 (mixed precision, reference engine)");
    v("checkpoint_every", checkpoint_every, Range{0, 1e9},
      "steps between checkpoints; 0: only at the end and when interrupted");
    v("keep_checkpoints", keep_checkpoints, Range{0, 1e6}, "newest checkpoints to keep; 0: all");
    v("around_moment", around_moment, Range{0, 1e9},
      "checkpoints before, in and after a confirmed moment, at multiples of so many steps, never pruned; 0: none; "
      "eureka train has train.eval_every unless keep_checkpoints is set");
    v("keep", keep,
      "of a run that has ended: all of it, or summary: what studies and reports need, without checkpoints (on the way "
      "there is one, twice a minute at most), looks and TensorBoard's files");
  }
};

// What `eureka train` looks at, and at every how many validations, unless it is told otherwise; studies look at
// nothing.
inline constexpr const char* kDefaultDiagnostics = "gradients, attention, jacobian, attenuation, progress";
inline constexpr std::int64_t kDefaultLookEvery = 4;

struct DiagnoseOptions {
  std::string names;
  std::int64_t every = 0;
  std::int64_t samples = 16;

  template <class V>
  void visit(V& v) {
    v("names", names, "diagnostics to report (eureka list diagnostics), a list or separated by commas; none: no look");
    v("every", every, Range{0, 1e9}, "steps between looks, a multiple of train.eval_every; 0: at every validation");
    v("samples", samples, Range{1, 1e6}, "of the training batch that are looked at");
  }
};

// A named plug-in with all its options, checked and complete.
struct PluginChoice {
  std::string name;
  OptionValues options;
};

struct RunConfig {
  PluginChoice task;
  PluginChoice model;
  PluginChoice attention;
  ScaleOptions scale;
  TrainOptions train;
  DiagnoseOptions diagnose;
  std::vector<PluginChoice> diagnostics;  // those that diagnose.names names; options in [diagnose.NAME]
  InterventionOptions intervene;
  RunOptions run;
  // What it was resolved with, which must outlive it: a run that is resumed resolves its own file the same way.
  const Catalog* catalog = nullptr;
};

// A section that every run has, whatever plug-ins it names: attention.scale, train, diagnose, intervene, run.
struct ConfigSection {
  std::string name;
  OptionList options;
};
std::vector<ConfigSection> fixed_sections();

// Lays overrides over a base. Naming another task, model or rule drops the options of the one it replaces.
ConfigEntries merge_entries(ConfigEntries base, const ConfigEntries& overrides);

// Checks every key, type, range and name; fills in defaults. Throws Error(config) at the entry's own place.
RunConfig resolve_config(const ConfigEntries& entries, const Catalog& catalog);

std::string to_toml(const RunConfig& config);

// Flat keys and values in the order of to_toml, for comparing two configs.
std::vector<std::pair<std::string, OptionValue>> flat_entries(const RunConfig& config);

// The same as entries to lay overrides over; all of them come from `where`.
ConfigEntries to_entries(const RunConfig& config, const std::string& where);

EngineConfig engine_config(const RunConfig& config, const TaskShape& shape);

}  // namespace eureka
