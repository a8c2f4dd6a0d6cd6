#include "stats/detector_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace eureka {

namespace {

const TrueMoment* true_moment_at(const LabeledCurve& curve, double step, double steps) {
  const double spacing = steps / static_cast<double>(curve.points.size() - 1);
  for (const TrueMoment& moment : curve.moments) {
    if (std::abs(step - moment.step) <= std::max({moment.width, 0.03 * steps, spacing})) return &moment;
  }
  return nullptr;
}

bool has_false_moment(const LabeledCurve& curve, const std::vector<Moment>& moments, double steps) {
  return std::any_of(moments.begin(), moments.end(),
                     [&](const Moment& moment) { return !true_moment_at(curve, moment.step, steps); });
}

// Feeds the curve as a training loop does and looks at the confirmed moments on the way.
bool alarms_online(const LabeledCurve& curve, DetectorOptions options, double steps) {
  options.budget = steps;
  MomentDetector detector(options);
  const std::size_t every = std::max<std::size_t>(1, curve.points.size() / 128);
  for (std::size_t i = 0; i < curve.points.size() && !detector.finished(); ++i) {
    detector.add(curve.points[i].step, curve.points[i].value);
    if (!detector.finished() && i % every == 0 && has_false_moment(curve, detector.moments(), steps)) return true;
  }
  return false;
}

TimingError summary(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[static_cast<std::size_t>(std::lround(share * static_cast<double>(errors.size() - 1)))];
  };
  return {at(0.5), at(0.9)};
}

double rate(std::size_t part, std::size_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

KindReport& report_of(const LabeledCurve& curve, std::vector<KindReport>& kinds) {
  for (KindReport& kind : kinds) {
    if (kind.kind == curve.kind) return kind;
  }
  kinds.push_back({.kind = curve.kind, .is_positive = curve.is_positive});
  return kinds.back();
}

void sum_up(DetectorReport& report) {
  KindReport all;
  std::size_t positive = 0, negative = 0, extra = 0;
  for (const KindReport& kind : report.kinds) {
    all.found += kind.found;
    all.moments += kind.moments;
    (kind.is_positive ? positive : negative) += kind.curves - kind.under_way;
    (kind.is_positive ? extra : all.false_alarms) += kind.false_alarms;
    if (!kind.is_positive) all.online_alarms += kind.online_alarms;
    all.under_way += kind.under_way;
    all.said_under_way += kind.said_under_way;
    all.too_early += kind.too_early;
    all.false_under_way += kind.false_under_way;
  }
  report.recall = rate(all.found, all.moments);
  report.false_alarm_rate = rate(all.false_alarms, negative);
  report.online_false_alarm_rate = rate(all.online_alarms, negative);
  report.extra_rate = rate(extra, positive);
  report.under_way_recall = rate(all.said_under_way, all.under_way);
  report.too_early_rate = rate(all.too_early, all.under_way);
  report.false_under_way_rate = rate(all.false_under_way, report.curves - all.under_way);
}

}  // namespace

DetectorReport check_detector(std::span<const LabeledCurve> corpus, const DetectorOptions& options, bool online) {
  DetectorReport report;
  report.curves = corpus.size();
  report.online = online;
  std::vector<double> of_budget, of_width;
  for (const LabeledCurve& curve : corpus) {
    DetectorOptions own = options;
    own.direction = curve.direction;
    own.plateau_level = curve.plateau_level;
    const double steps = curve.points.back().step - curve.points.front().step;
    const Findings findings = detect(curve.points, own);
    const std::vector<Moment>& moments = findings.moments;

    KindReport& kind = report_of(curve, report.kinds);
    ++kind.curves;
    kind.moments += curve.moments.size();
    const bool is_false = has_false_moment(curve, moments, steps);
    (curve.ending == Ending::before_half_way ? kind.too_early : kind.false_alarms) += is_false;
    kind.online_alarms += online && curve.ending == Ending::at_rest && alarms_online(curve, own, steps);
    kind.under_way += curve.ending == Ending::before_half_way;
    kind.said_under_way += curve.ending == Ending::before_half_way && findings.under_way;
    kind.false_under_way += curve.ending == Ending::at_rest && findings.under_way;
    for (const TrueMoment& truth : curve.moments) {
      const auto found = std::find_if(moments.begin(), moments.end(), [&](const Moment& moment) {
        return true_moment_at(curve, moment.step, steps) == &truth;
      });
      kind.found += found != moments.end() || (curve.ending == Ending::past_half_way && findings.under_way);
      if (found == moments.end()) continue;
      of_budget.push_back(std::abs(found->step - truth.step) / steps);
      of_width.push_back(std::abs(found->step - truth.step) / truth.width);
    }
  }

  sum_up(report);
  report.error_of_budget = summary(std::move(of_budget));
  report.error_of_width = summary(std::move(of_width));
  return report;
}

std::string format_report(const DetectorReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  constexpr auto kRow = " {:<28} {:>6}  {:>7} {:>6}  {:>6}  {:>12}  {:>9} {:>7}  {:>13}";
  const auto row = [&](auto... cells) {
    const std::string line = fmt::format(kRow, cells...);
    fmt::format_to(out, "{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  };
  row("kind", "curves", "moments", "found", "recall", "false alarms", "under way", "falsely",
      report.online ? "while running" : "");
  for (const KindReport& kind : report.kinds) {
    row(kind.kind, kind.curves, kind.moments, kind.found, kind.moments ? fmt::format("{:.3f}", kind.recall()) : "",
        kind.false_alarms + kind.too_early,
        kind.under_way ? fmt::format("{}/{}", kind.said_under_way, kind.under_way) : "", kind.false_under_way,
        report.online ? fmt::format("{}", kind.online_alarms) : "");
  }
  fmt::format_to(out, " recall {:.4f}; false alarms in {:.2f}% of the curves without a moment", report.recall,
                 100 * report.false_alarm_rate);
  if (report.online) fmt::format_to(out, " ({:.2f}% while running)", 100 * report.online_false_alarm_rate);
  fmt::format_to(out, ", extra moments in {:.2f}% of the others\n", 100 * report.extra_rate);
  fmt::format_to(out,
                 " rises under way: {:.1f}% said, {:.1f}% taken for moments already; said of {:.2f}% of the others\n",
                 100 * report.under_way_recall, 100 * report.too_early_rate, 100 * report.false_under_way_rate);
  fmt::format_to(out, " half-way step off by {:.2f}% of the curve (90%: {:.2f}%), {:.2f} widths (90%: {:.2f})\n",
                 100 * report.error_of_budget.median, 100 * report.error_of_budget.percentile_90,
                 report.error_of_width.median, report.error_of_width.percentile_90);
  return text;
}

}  // namespace eureka
