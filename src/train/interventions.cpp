#include "train/interventions.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/transformer_layout.h"
#include "train/gradient_rescaling.h"
#include "train/parameter_choice.h"
#include "train/position_distance.h"

namespace eureka {
namespace {

std::int64_t heads_of(const RunConfig& config) {
  if (!transformer_kind(config.model.name)) return 0;
  TransformerOptions options;
  assign(options, config.model.options);
  return options.heads;
}

struct Span {
  const char* kind;
  StepInterval during;
};

// Those that are on and last for a while.
std::vector<Span> spans_of(const InterventionOptions& options) {
  std::vector<Span> spans;
  const auto add = [&](const char* kind, const auto& one) {
    if (one.on()) spans.push_back({kind, {one.from, one.until}});
  };
  add("gradients", options.gradients);
  add("freeze", options.freeze);
  add("attention", options.attention);
  add("scale", options.scale);
  return spans;
}

StateTensor* find(std::vector<StateTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

Interventions::Interventions(const RunConfig& config, const std::vector<ParameterSpec>& parameters)
    : options_(config.intervene),
      any_(options_.any()),
      seed_(config.run.seed),
      heads_(heads_of(config)),
      rows_before_input_(transformer_kind(config.model.name) == TransformerKind::decoder ? 0 : 1),
      parameters_(parameters) {
  const auto chosen = [&](const auto& one, const char* table) {
    return one.on() ? chosen_parameters(parameters, one.groups, one.layers, table) : std::vector<std::size_t>{};
  };
  redrawn_ = chosen(options_.redraw, "redraw");
  if (!options_.freeze.on()) return;
  frozen_.assign(parameters.size(), 0);
  for (const std::size_t i : chosen(options_.freeze, "freeze")) frozen_[i] = 1;
}

void Interventions::load(std::int64_t first_step, const std::vector<RunEvent>& past) {
  in_force_.clear();
  for (const RunEvent& event : past)
    if (const auto* noted = std::get_if<InterventionNoted>(&event.what)) {
      // What happened once at an earlier step may not be taken for what happens now.
      if (noted->phase == "begins" || (noted->phase == "happens" && event.step == first_step))
        in_force_.insert(noted->kind);
      if (noted->phase == "ends") in_force_.erase(noted->kind);
    }
  source_is_known_ = false;
  transplant_.reset();
  if (!options_.transplant.on() || options_.transplant.at < first_step) return;
  transplant_ = read_transplant(options_.transplant, seed_, parameters_);
  for (const RunEvent& event : past) {
    const auto* source = std::get_if<TransplantSource>(&event.what);
    if (source == nullptr || !source->is_at_place_of(transplant_->source)) continue;
    source_is_known_ = true;
    if (*source == transplant_->source) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("what is to be transplanted has changed since the run began: it was step {}", source->checkpoint),
        source->run, "put the checkpoint back, or begin again with --resume --step 0 or another --out DIR");
  }
}

std::vector<RunEvent> Interventions::begin_step(Engine& engine, std::int64_t step) {
  std::vector<RunEvent> events;
  if (transplant_ && !source_is_known_) {
    events.push_back({step, transplant_->source});
    source_is_known_ = true;
  }
  const auto happens = [&](const char* kind) {
    if (in_force_.insert(kind).second) events.push_back({step, InterventionNoted{kind, "happens"}});
  };
  const bool redraws = options_.redraw.on() && step == options_.redraw.at;
  const bool transplants = transplant_ && step == options_.transplant.at;
  const bool moves = options_.positions.on() && step == options_.positions.at;
  if (redraws || transplants || moves) {
    EngineState state = engine.export_state();
    if (redraws) redraw(state);
    if (transplants) transplant(state);
    if (moves) move_positions(state);
    engine.import_state(state);
  }
  if (redraws) happens("redraw");
  if (transplants) happens("transplant");
  if (moves) happens("positions");
  for (const Span& span : spans_of(options_)) {
    if (span.during.has(step)) {
      if (in_force_.insert(span.kind).second) events.push_back({step, InterventionNoted{span.kind, "begins"}});
    } else if (in_force_.erase(span.kind) > 0) {
      events.push_back({step, InterventionNoted{span.kind, "ends"}});
    }
  }
  return events;
}

void Interventions::redraw(EngineState& state) const {
  for (const std::size_t i : redrawn_) {
    const ParameterSpec& spec = parameters_[i];
    find(state.model, spec.name)->values =
        redrawn_values(spec, static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(options_.redraw.draw));
    for (StateTensor& tensor : state.optimizer)
      // "m.head.weight" is the state m of head.weight.
      if (std::string_view(tensor.name).substr(tensor.name.find('.') + 1) == spec.name)
        std::fill(tensor.values.begin(), tensor.values.end(), 0.0F);
  }
}

void Interventions::transplant(EngineState& state) const {
  for (const StateTensor& tensor : transplant_->tensors) find(state.model, tensor.name)->values = tensor.values;
}

void Interventions::move_positions(EngineState& state) const {
  StateTensor* positions = find(state.model, "positions");
  if (positions == nullptr)
    throw Error(ErrorKind::config, "'intervene.positions' needs learned positions", {},
                "use --set model.positions=learned");
  set_position_distance(options_.positions, rows_before_input_, *positions);
}

double Interventions::change_gradient(Engine& engine, std::int64_t step, double norm) const {
  const GradientRescaling& gradients = options_.gradients;
  if (!gradients.on() || !StepInterval{gradients.from, gradients.until}.has(step)) return norm;
  const FlatGradient gradient = engine.flat_gradient();
  rescale_gradients(gradient, parameters_, gradients.rescale, heads_);
  return norm_of(gradient);
}

std::span<const std::uint8_t> Interventions::frozen_at(std::int64_t step) const {
  const bool now = options_.freeze.on() && StepInterval{options_.freeze.from, options_.freeze.until}.has(step);
  return now ? std::span<const std::uint8_t>(frozen_) : std::span<const std::uint8_t>();
}

void refuse_past_interventions(const ConfigEntries& change, const RunConfig& config, std::int64_t first_step) {
  // Whatever of the table was changed: an inherited intervention may well be over.
  const auto check = [&](const std::string& table, const char* option, bool past, std::int64_t step) {
    const auto changed = change.lower_bound(table);
    if (past && changed != change.end() && changed->first.starts_with(table))
      throw Error(
          ErrorKind::config,
          fmt::format("'{}{}' = {} lies before step {}, where the branch begins", table, option, step, first_step),
          changed->second.where, fmt::format("for example --set {}{}={}", table, option, first_step + 1));
  };
  const InterventionOptions& options = config.intervene;
  check("intervene.redraw.", "at", options.redraw.on() && options.redraw.at < first_step, options.redraw.at);
  check("intervene.transplant.", "at", options.transplant.on() && options.transplant.at < first_step,
        options.transplant.at);
  check("intervene.positions.", "at", options.positions.on() && options.positions.at < first_step,
        options.positions.at);
  for (const auto& [kind, during] : spans_of(options))
    check(fmt::format("intervene.{}.", kind), "until", during.until != 0 && during.until <= first_step, during.until);
}

}  // namespace eureka
