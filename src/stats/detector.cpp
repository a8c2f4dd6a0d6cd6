#include "stats/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/median.h"
#include "stats/calm_stretches.h"
#include "stats/first_rise.h"
#include "stats/grokking.h"
#include "stats/rise_search.h"
#include "stats/unit_curve.h"

namespace eureka {

namespace {

constexpr double kLargestValue = 1e100;  // beyond it sums of squares overflow; a loss that large has diverged

bool is_usable(double value) { return std::abs(value) < kLargestValue; }

double median_value(std::span<const CurvePoint> points) {
  std::vector<double> values;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.value)) values.push_back(point.value);
  }
  return values.empty() ? 0 : upper_median(std::move(values));
}

Findings search(std::span<const CurvePoint> points, std::span<const CurvePoint> training,
                const DetectorOptions& options, bool finished) {
  Findings findings;
  if (points.size() < std::max<std::size_t>(2, options.min_plateau)) return findings;
  UnitCurve curve = make_unit_curve(points, options.direction, finished);
  std::vector<Rise> moments = RiseSearch(curve, options, finished).all();
  // What is noise and what a rise, a growing curve will yet tell. A short log has too little to tell them by: where a
  // line through all its noise shows nothing, its values as they are may.
  UnitCurve again;
  if (finished && (moments.empty() || curve.is_short_log)) {
    const Smoothing smoothing = curve.is_short_log ? Smoothing::none : Smoothing::patient;
    again = make_unit_curve(points, options.direction, finished, smoothing);
    if (moments.empty()) moments = RiseSearch(again, options, finished).all();
    if (!moments.empty() && !curve.is_short_log) curve = again;
  }
  std::vector<bool> taken(curve.size(), false);
  double free_from = curve.origin;
  const RiseSearch rises(curve, options, finished);
  const auto take = [&](const Rise& rise, const Plateau& plateau, std::size_t until) {
    findings.plateaus.push_back(plateau);
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(rise.plateau_first),
              taken.begin() + static_cast<std::ptrdiff_t>(until), true);
  };
  const auto plateau_before = [&](const Rise& rise) {
    return Plateau{std::max(free_from, curve.step(curve.x[rise.plateau_first])), curve.step(rise.x10),
                   curve.value(rise.from)};
  };
  for (const Rise& rise : moments) {
    const Moment moment{.step = curve.step(rise.x50),
                        .rise_start = curve.step(rise.x10),
                        .rise_end = curve.step(rise.x90),
                        .from = curve.value(rise.from),
                        .to = curve.value(rise.to),
                        .score = rises.score(rise),
                        .plateau = plateau_before(rise)};
    (follows_training(moment, training) ? findings.groks : findings.moments).push_back(moment);
    take(rise, moment.plateau, rise.arrives);
    free_from = curve.step(rise.x90);
  }
  std::optional<Rise> rise = rises.under_way(moments);
  if (!rise && curve.is_short_log) rise = RiseSearch(again, options, finished).under_way(moments);
  if (rise) {
    findings.under_way = {.rise_start = curve.step(rise->x10),
                          .from = curve.value(rise->from),
                          .reached = points.back().value,
                          .plateau = plateau_before(*rise)};
    if (follows_training(*findings.under_way, training)) findings.under_way->kind = RiseKind::grokking;
    take(*rise, findings.under_way->plateau, curve.size());
  }
  for (const auto& [first, last] : calm_stretches(curve, std::move(taken), options.min_plateau)) {
    findings.plateaus.push_back(
        {curve.step(curve.x[first]), curve.step(curve.x[last]), curve.value(median(curve.v, first, last))});
  }
  std::sort(findings.plateaus.begin(), findings.plateaus.end(),
            [](const Plateau& a, const Plateau& b) { return a.start < b.start; });
  findings.first_rise = find_first_rise(curve, options, findings);
  return findings;
}

}  // namespace

MomentDetector::MomentDetector(DetectorOptions options)
    : options_(options), window_(options.window), training_(options.window) {}

void MomentDetector::add(double step, double value) {
  if (finished_) return;
  if (!std::isfinite(step) || (last_step_ && step <= *last_step_)) {
    throw Error(ErrorKind::input,
                fmt::format("step {} after step {}: steps must increase", step, last_step_.value_or(0)), {},
                "sort the curve by step and drop repeated steps");
  }
  if (!is_usable(value)) {
    finish();
    return;
  }
  last_step_ = step;
  window_.add(step, value);
  findings_.reset();
}

void MomentDetector::add_training(double step, double value) {
  if (finished_ || !is_usable(value)) return;
  training_.add(step, value);
  findings_.reset();
}

const Findings& MomentDetector::findings() const {
  if (!findings_ || findings_are_final_ != finished_) {
    findings_ = search(window_.points(), training_.points(), options_, finished_);
    findings_are_final_ = finished_;
  }
  return *findings_;
}

std::size_t usable_points(std::span<const CurvePoint> curve) {
  const auto end = std::find_if(curve.begin(), curve.end(), [](const CurvePoint& p) { return !is_usable(p.value); });
  return static_cast<std::size_t>(end - curve.begin());
}

Findings detect(std::span<const CurvePoint> curve, const DetectorOptions& options) {
  return detect(curve, {}, options);
}

Findings detect(std::span<const CurvePoint> curve, std::span<const CurvePoint> training,
                const DetectorOptions& options) {
  MomentDetector detector(options);
  for (const CurvePoint& point : training) detector.add_training(point.step, point.value);
  for (const CurvePoint& point : curve) detector.add(point.step, point.value);
  detector.finish();
  return detector.findings();
}

std::optional<Direction> guess_direction(std::string_view column) {
  std::string name(column);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  constexpr std::array kDown{"loss", "err", "nll", "perplexity", "ppl", "entropy", "mse", "mae", "bpc", "bits_per"};
  constexpr std::array kUp{"acc", "explained", "reward",  "return", "score",    "f1",
                           "auc", "bleu",      "success", "recall", "precision"};
  if (std::any_of(kDown.begin(), kDown.end(), has)) return Direction::down;
  if (std::any_of(kUp.begin(), kUp.end(), has)) return Direction::up;
  return std::nullopt;
}

Direction guess_direction(std::string_view column, std::span<const CurvePoint> curve) {
  if (const std::optional<Direction> named = guess_direction(column)) return *named;
  const std::size_t tenth = std::max<std::size_t>(1, curve.size() / 10);
  if (curve.size() < 2 * tenth) return Direction::up;
  return median_value(curve.last(tenth)) >= median_value(curve.first(tenth)) ? Direction::up : Direction::down;
}

}  // namespace eureka
