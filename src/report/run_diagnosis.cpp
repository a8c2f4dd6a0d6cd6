#include "report/run_diagnosis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/median.h"
#include "train/records/number_name.h"
#include "train/watched_run.h"

namespace eureka {
namespace {

using Points = std::vector<figure::Point>;

constexpr const char* kEntropy = "attention/entropy";
constexpr const char* kThrough = "attenuation/through_softmax";
constexpr const char* kOfParameters = "gradients/qk_to_v";
constexpr const char* kOfActivations = "attenuation/qk_to_v";
constexpr std::array kNumbers = {kEntropy, kThrough, kOfParameters, kOfActivations};

Points finite_part(const RunCurve* curve) {
  Points kept;
  if (curve != nullptr)
    std::copy_if(curve->points.begin(), curve->points.end(), std::back_inserter(kept),
                 [](const figure::Point& point) { return std::isfinite(point.y); });
  return kept;
}

Findings findings_of(const RunData& run, const Judgement& judgement) {
  MomentDetector detector(judgement.detector);
  for (const figure::Point& point : run.metric_curve()) detector.add(point.x, point.y);
  if (run.metric.starts_with("val_"))
    if (const RunCurve* training = run.find("train_" + run.metric.substr(4)))
      for (const figure::Point& point : training->points) detector.add_training(point.x, point.y);
  if (run.summary) detector.finish();
  return detector.findings();
}

// The last plateau that is the task's own; where no level is known, one that the curve ends on.
std::optional<Plateau> stays_on(const Findings& found, const Metric& metric, double last_step) {
  std::optional<Plateau> plateau;
  for (const Plateau& one : found.plateaus)
    if (metric.plateau ? metric.on_plateau(one.level) : one.end >= last_step) plateau = one;
  return plateau;
}

// As show tells it. A plateau that was left ends where the rise begins.
CurveStanding standing_of(const RunData& run, const Judgement& judgement) {
  CurveStanding curve;
  const Points points = finite_part(run.find(run.metric));
  if (points.empty()) return curve;
  curve.last_step = points.back().x;
  curve.last_value = points.back().y;
  const Findings found = findings_of(run, judgement);
  RunSummary told;
  sum_up(found, judgement.metric, told);
  const auto left = [&](CurveState state, double step, Plateau plateau, double rise_start) {
    plateau.end = rise_start;
    curve.state = state;
    curve.step = step;
    curve.plateau = plateau;
  };
  if (told.moment) {
    for (const Moment& moment : found.moments)
      if (moment.step == told.moment->step) left(CurveState::moment, moment.step, moment.plateau, moment.rise_start);
  } else if (told.under_way) {
    left(CurveState::under_way, found.under_way->rise_start, found.under_way->plateau, found.under_way->rise_start);
  } else if (told.grokking) {
    curve.state = CurveState::grokking;
    curve.step = told.grokking->step;
  } else if ((curve.plateau = stays_on(found, judgement.metric, curve.last_step))) {
    curve.state = judgement.metric.plateau ? CurveState::on_plateau : CurveState::at_rest;
    curve.plateau->end = curve.last_step;
  } else if (points.size() >= judgement.detector.min_plateau + judgement.detector.hold) {
    curve.state = CurveState::no_plateau;
  }
  return curve;
}

std::optional<double> value_at(const Points& points, double step) {
  for (const figure::Point& point : points)
    if (point.x == step) return point.y;
  return std::nullopt;
}

struct LookWindow {
  double first = 0;          // step of the first look
  double from = 0, to = -1;  // on the plateau; empty without one

  bool holds(double step) const { return step > first && step >= from && step <= to; }
};

// One number of one layer at both times.
struct Seen {
  std::optional<double> first, plateau;
};

Seen seen_in(const Points& points, const LookWindow& window) {
  Seen seen{value_at(points, window.first), {}};
  std::vector<double> values;
  for (const figure::Point& point : points)
    if (window.holds(point.x)) values.push_back(point.y);
  seen.plateau = median_if_any(std::move(values));
  return seen;
}

int number_of(const std::string& layer) {
  int number = 0;
  std::from_chars(layer.data() + std::string("layer").size(), layer.data() + layer.size(), number);
  return number;
}

// Layers of the model in their order, if anybody looked at attention or at what becomes of its gradient.
std::vector<std::string> layers_of(const RunData& run) {
  std::map<int, std::string> layers;
  for (const RunCurve& curve : run.curves)
    for (const char* number : kNumbers)
      if (const auto name = parse_number_name(curve.name);
          name && !name->layer.empty() && curve.name == std::string(number) + "/" + name->layer)
        layers.emplace(number_of(name->layer), name->layer);
  std::vector<std::string> names;
  for (const auto& [number, name] : layers) names.push_back(name);
  return names;
}

std::optional<double> first_look_of(const RunData& run, const std::vector<std::string>& layers) {
  std::optional<double> first;
  for (const std::string& layer : layers)
    for (const char* number : kNumbers) {
      const Points points = finite_part(run.find(std::string(number) + "/" + layer));
      if (!points.empty()) first = std::min(first.value_or(points.front().x), points.front().x);
    }
  return first;
}

// On the plateau, by the number that was seen most often.
std::size_t looks_in(const RunData& run, const std::string& layer, const LookWindow& window) {
  std::size_t most = 0;
  for (const char* number : kNumbers) {
    const Points points = finite_part(run.find(std::string(number) + "/" + layer));
    const auto inside = std::count_if(points.begin(), points.end(), [&](const auto& p) { return window.holds(p.x); });
    most = std::max(most, static_cast<std::size_t>(inside));
  }
  return most;
}

std::string text_in(const ConfigEntries& config, const std::string& key) {
  const auto entry = config.find(key);
  const auto* text = entry == config.end() ? nullptr : std::get_if<std::string>(&entry->second.value);
  return text == nullptr ? "" : *text;
}

SoftmaxReading read(const LayerDiagnosis& layer, bool began_unseen) {
  const auto below = [](const std::optional<double>& value, double bound) { return value && *value < bound; };
  if (below(layer.first.entropy, kNarrowAttention) || below(layer.plateau.entropy, kNarrowAttention))
    return SoftmaxReading::narrow;
  if (!layer.missing.empty() || began_unseen) return SoftmaxReading::not_known;
  if (*layer.first.qk_to_v >= kStarved) return SoftmaxReading::not_starved;
  return *layer.first.entropy > kEvenAttention ? SoftmaxReading::starved_even : SoftmaxReading::starved;
}

LayerDiagnosis layer_of(const RunData& run, const std::string& name, const LookWindow& window, bool began_unseen) {
  LayerDiagnosis layer{.layer = name, .module = text_in(run.config, "watch.layers." + name)};
  const auto take = [&](const char* number, std::optional<double> AttentionLook::*place) {
    const Seen seen = seen_in(finite_part(run.find(std::string(number) + "/" + name)), window);
    layer.first.*place = seen.first;
    layer.plateau.*place = seen.plateau;
    return seen.first.has_value();
  };
  if (!take(kEntropy, &AttentionLook::entropy)) layer.missing.emplace_back("attention");
  take(kThrough, &AttentionLook::through_softmax);  // is told, and decides nothing
  if (!take(kOfParameters, &AttentionLook::qk_to_v)) {
    layer.of_parameters = false;
    if (!take(kOfActivations, &AttentionLook::qk_to_v)) layer.missing.emplace_back("gradients");
  }
  layer.reading = read(layer, began_unseen);
  return layer;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

std::optional<double> median_if_any(std::vector<double> values) {
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

Json attention_look_json(const AttentionLook& look) {
  return {{"entropy", optional_json(look.entropy)},
          {"qk_to_v", optional_json(look.qk_to_v)},
          {"through_softmax", optional_json(look.through_softmax)}};
}

SoftmaxReading RunDiagnosis::reading() const {
  for (const SoftmaxReading one : {SoftmaxReading::starved_even, SoftmaxReading::starved, SoftmaxReading::narrow,
                                   SoftmaxReading::not_known, SoftmaxReading::not_starved})
    if (std::any_of(layers.begin(), layers.end(), [&](const LayerDiagnosis& layer) { return layer.reading == one; }))
      return one;
  return SoftmaxReading::not_known;
}

RunDiagnosis diagnose(const RunData& run, const Judgement& judgement) {
  RunDiagnosis diagnosis{.directory = run.directory,
                         .name = run.name,
                         .metric = run.metric,
                         .rule = text_in(run.config, "attention.rule"),
                         .program = text_in(run.config, kWatchedProgram),
                         .seed = run.meta ? std::optional(run.meta->seed) : std::nullopt,
                         .has_config = !run.config.empty(),
                         .curve = standing_of(run, judgement),
                         .problems = run.problems};
  if (const auto scale = run.config.find("attention.scale.multiple");
      scale != run.config.end() && text_in(run.config, "attention.scale.kind") == "fixed")
    if (const auto* multiple = std::get_if<double>(&scale->second.value)) diagnosis.scale = *multiple;
  if (diagnosis.rule.empty()) diagnosis.rule = text_in(run.config, "watch.attention");
  const std::vector<std::string> layers = layers_of(run);
  diagnosis.first_look = first_look_of(run, layers);
  LookWindow window{.first = diagnosis.first_look.value_or(0)};
  if (diagnosis.curve.plateau) window.from = diagnosis.curve.plateau->start, window.to = diagnosis.curve.plateau->end;
  for (const std::string& layer : layers) {
    diagnosis.layers.push_back(layer_of(run, layer, window, diagnosis.began_unseen()));
    diagnosis.plateau_looks = std::max(diagnosis.plateau_looks, looks_in(run, layer, window));
  }
  return diagnosis;
}

Json diagnosis_json(const RunDiagnosis& diagnosis) {
  const CurveStanding& curve = diagnosis.curve;
  Json layers = Json::array();
  for (const LayerDiagnosis& layer : diagnosis.layers) {
    Json one = {{"layer", layer.layer}};
    if (!layer.module.empty()) one["module"] = layer.module;
    one["reading"] = reading_name(layer.reading);
    one["gradients_of"] = layer.of_parameters ? "parameters" : "activations";
    one["first_look"] = attention_look_json(layer.first);
    one["plateau"] = attention_look_json(layer.plateau);
    one["missing"] = layer.missing;
    layers.push_back(std::move(one));
  }
  Json plateau(nullptr);
  if (curve.plateau)
    plateau = {{"start", curve.plateau->start}, {"end", curve.plateau->end}, {"level", curve.plateau->level}};
  return {{"run", diagnosis.directory.string()},
          {"seed", diagnosis.seed ? Json(*diagnosis.seed) : Json(nullptr)},
          {"attention", diagnosis.rule},
          {"metric", diagnosis.metric},
          {"curve",
           {{"state", enum_names(curve.state)[static_cast<std::size_t>(curve.state)]},
            {"step", optional_json(curve.step)},
            {"plateau", plateau},
            {"last_step", curve.last_step},
            {"last_value", optional_json(curve.last_value)}}},
          {"reading", reading_name(diagnosis.reading())},
          {"first_look", optional_json(diagnosis.first_look)},
          {"plateau_looks", static_cast<std::int64_t>(diagnosis.plateau_looks)},
          {"layers", layers},
          {"problems", diagnosis.problems}};
}

}  // namespace eureka
