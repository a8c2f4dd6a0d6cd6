// [intervene]: what is done to a run from outside, to test causes of a plateau. Everything is off by default.
//
// Steps count updates from 0: `from` is the first that an intervention is in force at, `until` the first that it no
// longer is, 0 for never. Layers and heads count from 0; a list is "0, 2", and empty means all.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/options.h"

namespace eureka {

enum class Rescale { none, block_mean, heads_to_value };
constexpr auto enum_names(Rescale) { return std::array{"none", "block-mean", "heads-to-value"}; }

// oracle: to the keys that Task::keys_of_answer names. role: to the tokens of one role.
enum class AttentionFix { none, uniform, oracle, role };
constexpr auto enum_names(AttentionFix) { return std::array{"none", "uniform", "oracle", "role"}; }

namespace intervention_help {
inline constexpr const char* kFrom = "first step at which it is in force";
inline constexpr const char* kUntil = "first step at which it no longer is; 0: to the end";
inline constexpr const char* kGroups =
    "groups of parameters as in train.lr_multiplier, query, key, or all; several separated by commas";
inline constexpr const char* kLayers = "blocks, counted from 0, separated by commas; empty: all parameters";
inline constexpr const char* kAttentionLayers = "blocks, counted from 0, separated by commas; empty: all";
inline constexpr const char* kHeads = "heads of these blocks, counted from 0, separated by commas; empty: all";
inline constexpr const char* kAt = "the step before whose update, and before whose row of metrics, it happens";
}  // namespace intervention_help

inline constexpr Range kStepRange{0, 1e9};

struct GradientRescaling {
  Rescale rescale = Rescale::none;
  std::int64_t from = 0;
  std::int64_t until = 0;

  bool on() const { return rescale != Rescale::none; }

  template <class V>
  void visit(V& v) {
    v("rescale", rescale,
      "gradients of W_Q, W_K and W_V to their common mean size in each block, or those of W_Q and W_K to that of W_V "
      "in "
      "each head");
    v("from", from, kStepRange, intervention_help::kFrom);
    v("until", until, kStepRange, intervention_help::kUntil);
  }
};

struct Freezing {
  std::string groups;
  std::string layers;
  std::int64_t from = 0;
  std::int64_t until = 0;

  bool on() const { return !groups.empty(); }

  template <class V>
  void visit(V& v) {
    v("groups", groups, intervention_help::kGroups);
    v("layers", layers, intervention_help::kLayers);
    v("from", from, kStepRange, intervention_help::kFrom);
    v("until", until, kStepRange, intervention_help::kUntil);
  }
};

struct Redrawing {
  std::string groups;
  std::string layers;
  std::int64_t at = 0;
  std::int64_t draw = 0;

  bool on() const { return !groups.empty(); }

  template <class V>
  void visit(V& v) {
    v("groups", groups, intervention_help::kGroups);
    v("layers", layers, intervention_help::kLayers);
    v("at", at, kStepRange, intervention_help::kAt);
    v("draw", draw, Range{0, 9e15}, "which of many draws; none is the one the run began with");
  }
};

struct Transplanting {
  std::string run;
  std::int64_t step = 0;
  std::string groups = "query_key";
  std::string layers;
  std::int64_t at = 0;

  bool on() const { return !run.empty(); }

  template <class V>
  void visit(V& v) {
    v("run", run, "directory of the run whose values are taken; {seed} in it stands for run.seed");
    v("step", step, kStepRange, "of its checkpoint; 0: its last");
    v("groups", groups, intervention_help::kGroups);
    v("layers", layers, intervention_help::kLayers);
    v("at", at, kStepRange, intervention_help::kAt);
  }
};

struct AttentionFixing {
  AttentionFix kind = AttentionFix::none;
  std::string role;
  std::string layers;
  std::string heads;
  std::int64_t from = 0;
  std::int64_t until = 0;

  bool on() const { return kind != AttentionFix::none; }

  template <class V>
  void visit(V& v) {
    v("kind", kind,
      "weights of these heads: uniform over all visible keys, over those the answer depends on, or over those of a "
      "role");
    v("role", role, "with kind = role: whose tokens are attended to (the roles of the task)");
    v("layers", layers, intervention_help::kAttentionLayers);
    v("heads", heads, intervention_help::kHeads);
    v("from", from, kStepRange, intervention_help::kFrom);
    v("until", until, kStepRange, intervention_help::kUntil);
  }
};

struct HeadScaling {
  double multiple = 1;
  std::string layers;
  std::string heads;
  std::int64_t from = 0;
  std::int64_t until = 0;

  bool on() const { return multiple != 1; }

  template <class V>
  void visit(V& v) {
    v("multiple", multiple, Range{1e-6, 1e6},
      "factor on the scale of the logits of these heads, whatever it is otherwise");
    v("layers", layers, intervention_help::kAttentionLayers);
    v("heads", heads, intervention_help::kHeads);
    v("from", from, kStepRange, intervention_help::kFrom);
    v("until", until, kStepRange, intervention_help::kUntil);
  }
};

struct PositionSetting {
  std::string first;
  std::string second;
  double distance = 0;
  std::int64_t at = 0;

  bool on() const { return !first.empty(); }

  template <class V>
  void visit(V& v) {
    v("first", first, "tokens of the input (of an image its patches, in reading order), counted from 0");
    v("second", second, "as many others: each is the partner of one of the first");
    v("distance", distance, Range{0, 1e3},
      "root mean square difference that the learned positions of partners get; their middle stays");
    v("at", at, kStepRange, intervention_help::kAt);
  }
};

struct InterventionOptions {
  GradientRescaling gradients;
  Freezing freeze;
  Redrawing redraw;
  Transplanting transplant;
  AttentionFixing attention;
  HeadScaling scale;
  PositionSetting positions;

  bool any() const {
    return gradients.on() || freeze.on() || redraw.on() || transplant.on() || attention.on() || scale.on() ||
           positions.on();
  }

  template <class V>
  void visit(V& v) {
    v.table("gradients", gradients);
    v.table("freeze", freeze);
    v.table("redraw", redraw);
    v.table("transplant", transplant);
    v.table("attention", attention);
    v.table("scale", scale);
    v.table("positions", positions);
  }
};

}  // namespace eureka
