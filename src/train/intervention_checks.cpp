#include "train/intervention_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/transformer_layout.h"
#include "tasks/task.h"
#include "train/option_lists.h"
#include "train/parameter_choice.h"

namespace eureka {
namespace {

// What the model has, if it is one with blocks and heads.
struct Blocks {
  int depth = 0;
  int heads = 0;
};

std::optional<Blocks> blocks_of(const RunConfig& config) {
  if (!transformer_kind(config.model.name)) return std::nullopt;
  VitOptions options;
  assign(options, config.model.options);
  return Blocks{options.depth, options.heads};
}

class Checker {
 public:
  Checker(const RunConfig& config, const ConfigEntries& entries)
      : config_(config), entries_(entries), blocks_(blocks_of(config)) {}

  [[noreturn]] void refuse(const std::string& option, const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::config, fmt::format("'{}': {}", option, what), where(option), hint);
  }

  void interval(const std::string& table, bool on, std::int64_t from, std::int64_t until) const {
    if (until != 0 && from >= until)
      refuse(table + ".until", fmt::format("step {} is not after step {}, where it begins", until, from),
             "0 means to the end");
    if (on && from >= config_.train.steps)
      refuse(table + ".from", fmt::format("a run of {} steps ends before step {}", config_.train.steps, from),
             "steps count from 0");
  }

  void moment(const std::string& table, bool on, std::int64_t at) const {
    if (on && at >= config_.train.steps)
      refuse(table + ".at", fmt::format("a run of {} steps has no update {}", config_.train.steps, at),
             "steps count from 0");
  }

  void groups(const std::string& table, const std::string& text) const {
    const std::vector<std::string> known = choosable_groups();
    for (const std::string& group : split_names(text))
      if (std::find(known.begin(), known.end(), group) == known.end())
        refuse(table + ".groups", fmt::format("there is no group '{}'", group), did_you_mean(group, known));
  }

  void layers(const std::string& table, const std::string& text) const {
    indices(table + ".layers", text, "layer", blocks_ ? std::optional(blocks_->depth) : std::nullopt);
  }

  void heads(const std::string& table, const std::string& text) const {
    indices(table + ".heads", text, "head", blocks_ ? std::optional(blocks_->heads) : std::nullopt);
  }

  void needs_attention(const std::string& option) const {
    if (!blocks_)
      refuse(option, fmt::format("model '{}' has no attention to intervene in", config_.model.name),
             "models with attention are transformer, vit and decoder");
  }

 private:
  std::string where(const std::string& option) const {
    const auto found = entries_.find(option);
    return found == entries_.end() ? "" : found->second.where;
  }

  void indices(const std::string& option, const std::string& text, const char* what, std::optional<int> count) const {
    for (const int index : parse_indices(text, option, where(option)))
      if (count && index >= *count)
        refuse(option, fmt::format("there is no {} {}", what, index),
               fmt::format("the model has {}, counted from 0", *count));
  }

  const RunConfig& config_;
  const ConfigEntries& entries_;
  std::optional<Blocks> blocks_;
};

void check_gradients(const Checker& checker, const RunConfig& config) {
  const GradientRescaling& gradients = config.intervene.gradients;
  const std::string option = "intervene.gradients.rescale";
  checker.interval("intervene.gradients", gradients.on(), gradients.from, gradients.until);
  if (!gradients.on()) return;
  checker.needs_attention(option);
  if (config.run.device != "cpu")
    checker.refuse(option, fmt::format("gradients on device '{}' are out of reach", config.run.device),
                   "use --set run.device=cpu");
}

void check_attention(const Checker& checker, const RunConfig& config) {
  const AttentionFixing& attention = config.intervene.attention;
  checker.layers("intervene.attention", attention.layers);
  checker.heads("intervene.attention", attention.heads);
  checker.interval("intervene.attention", attention.on(), attention.from, attention.until);
  if (!attention.on()) return;
  checker.needs_attention("intervene.attention.kind");
  if (attention.kind != AttentionFix::role) return;
  std::vector<std::string> names;
  for (const Role& role : Registry<Task>::instance().make(config.task.name, config.task.options)->roles())
    names.push_back(role.name);
  if (std::find(names.begin(), names.end(), attention.role) == names.end())
    checker.refuse("intervene.attention.role",
                   fmt::format("task '{}' has no role '{}'", config.task.name, attention.role),
                   did_you_mean(attention.role, names));
}

void check_scale(const Checker& checker, const HeadScaling& scale) {
  checker.layers("intervene.scale", scale.layers);
  checker.heads("intervene.scale", scale.heads);
  checker.interval("intervene.scale", scale.on(), scale.from, scale.until);
  if (scale.on()) checker.needs_attention("intervene.scale.multiple");
}

void check_transplant(const Checker& checker, const Transplanting& transplant) {
  checker.groups("intervene.transplant", transplant.groups);
  checker.layers("intervene.transplant", transplant.layers);
  checker.moment("intervene.transplant", transplant.on(), transplant.at);
  if (!transplant.on()) return;
  if (split_names(transplant.groups).empty())
    checker.refuse("intervene.transplant.groups", "names nothing to take over", "for example \"query_key\"");
  const std::string& run = transplant.run;
  for (std::size_t at = 0; (at = run.find('{', at)) != std::string::npos; ++at)
    if (run.compare(at, 6, "{seed}") != 0)
      checker.refuse("intervene.transplant.run", fmt::format("'{}' stands for nothing", run.substr(at)),
                     "did you mean '{seed}'?");
}

void check_positions(const Checker& checker, const RunConfig& config) {
  const PositionSetting& positions = config.intervene.positions;
  checker.moment("intervene.positions", positions.on(), positions.at);
  if (!positions.on()) return;
  checker.needs_attention("intervene.positions.first");
  const auto count = [](const std::string& text, const char* option) { return parse_indices(text, option).size(); };
  if (count(positions.first, "intervene.positions.first") != count(positions.second, "intervene.positions.second"))
    checker.refuse("intervene.positions.second", "names another number of tokens than 'first'",
                   "each token of the first has one partner");
}

}  // namespace

void check_interventions(const RunConfig& config, const ConfigEntries& entries) {
  const Checker checker(config, entries);
  const InterventionOptions& intervene = config.intervene;
  check_gradients(checker, config);
  checker.groups("intervene.freeze", intervene.freeze.groups);
  checker.layers("intervene.freeze", intervene.freeze.layers);
  checker.interval("intervene.freeze", intervene.freeze.on(), intervene.freeze.from, intervene.freeze.until);
  checker.groups("intervene.redraw", intervene.redraw.groups);
  checker.layers("intervene.redraw", intervene.redraw.layers);
  checker.moment("intervene.redraw", intervene.redraw.on(), intervene.redraw.at);
  check_transplant(checker, intervene.transplant);
  check_attention(checker, config);
  check_scale(checker, intervene.scale);
  check_positions(checker, config);
}

ConfigEntries with_lists_as_text(ConfigEntries entries) {
  for (auto& [key, entry] : entries) {
    if (!key.starts_with("intervene.") ||
        !(key.ends_with(".layers") || key.ends_with(".heads") || key.ends_with(".first") || key.ends_with(".second")))
      continue;
    if (const auto* number = std::get_if<std::int64_t>(&entry.value)) entry.value = fmt::format("{}", *number);
  }
  return entries;
}

}  // namespace eureka
