// eureka detect: plateaus and moments in anybody's training log.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "io/curve_file.h"
#include "io/json.h"
#include "io/training_column.h"
#include "report/curve_plot.h"
#include "report/finding_marks.h"
#include "stats/curve_corpus.h"
#include "stats/detector.h"
#include "stats/detector_check.h"
#include "stats/real_curves.h"

namespace eureka::cli {
namespace {

struct DetectArguments {
  std::string file;
  std::string column;
  std::string step_column;
  std::string training_column;
  std::string direction = "auto";
  double level = std::numeric_limits<double>::quiet_NaN();
  double best = std::numeric_limits<double>::quiet_NaN();
  bool json = false;
  bool self_check = false;
  std::size_t curves = 2320;  // 80 of each kind
  std::uint64_t seed = kHeldOutSeed;
};

std::optional<std::string> if_given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::vector<CurvePoint> points_of(const LoadedCurve& curve) {
  std::vector<CurvePoint> points;
  points.reserve(curve.steps.size());
  for (std::size_t i = 0; i < curve.steps.size(); ++i) points.push_back({curve.steps[i], curve.values[i]});
  return points;
}

Json to_json(const Moment& moment) {
  return {{"step", moment.step},
          {"rise_start", moment.rise_start},
          {"rise_end", moment.rise_end},
          {"from", moment.from},
          {"to", moment.to},
          {"score", moment.score}};
}

const char* name_of(RiseKind kind) { return enum_names(kind)[static_cast<std::size_t>(kind)]; }

// Every rise that has a name, in order: a first rise comes before all others.
Json named_rises(const Findings& findings) {
  Json rises = Json::array();
  if (const auto& rise = findings.first_rise)
    rises.push_back({{"kind", "first-rise"},
                     {"step", rise->step},
                     {"rise_start", rise->rise_start},
                     {"rise_end", rise->rise_end},
                     {"from", rise->from},
                     {"to", rise->to}});
  std::map<double, std::pair<RiseKind, const Moment*>> by_step;
  for (const Moment& moment : findings.moments) by_step[moment.step] = {RiseKind::moment, &moment};
  for (const Moment& grok : findings.groks) by_step[grok.step] = {RiseKind::grokking, &grok};
  for (const auto& [step, rise] : by_step) {
    Json json = to_json(*rise.second);
    json["kind"] = name_of(rise.first);
    rises.push_back(std::move(json));
  }
  return rises;
}

Json to_json(const Findings& findings) {
  Json plateaus = Json::array();
  for (const Plateau& plateau : findings.plateaus)
    plateaus.push_back({{"start", plateau.start}, {"end", plateau.end}, {"level", plateau.level}});
  Json moments = Json::array();
  for (const Moment& moment : findings.moments) moments.push_back(to_json(moment));
  Json json = {{"plateaus", plateaus},
               {"moments", moments},
               {"rises", named_rises(findings)},
               {"under_way", findings.under_way.has_value()}};
  if (const auto& rise = findings.under_way)
    json["rise"] = {{"rise_start", rise->rise_start},
                    {"from", rise->from},
                    {"reached", rise->reached},
                    {"kind", name_of(rise->kind)}};
  return json;
}

// What of the curve counts: a value that is no number ends it.
struct Extent {
  std::size_t used = 0;
  std::size_t dropped = 0;
  std::optional<double> last_step;  // nothing when the first value is no number
};

Extent extent_of(std::span<const CurvePoint> points) {
  Extent extent{.used = usable_points(points)};
  extent.dropped = points.size() - extent.used;
  if (extent.used > 0) extent.last_step = points[extent.used - 1].step;
  return extent;
}

Json to_json(const Extent& extent) {
  Json json = {{"points", extent.used}, {"dropped_points", extent.dropped}};
  json["last_step"] = extent.last_step ? Json(*extent.last_step) : Json(nullptr);
  return json;
}

void print_extent(const Extent& extent, std::span<const CurvePoint> points) {
  if (extent.dropped == 0) return;
  print("dropped  {} of {} points: the value at step {:g} is no finite number, and the curve ends before it{}\n",
        extent.dropped, points.size(), points[extent.used].step,
        extent.last_step ? fmt::format(", at {:g}", *extent.last_step) : "");
}

void print_findings(const LoadedCurve& curve, const Findings& findings) {
  PlotOptions options;
  options.title = fmt::format("{} by {}", curve.column, curve.step_column);
  options.width = std::min(100, terminal_columns(STDOUT_FILENO));
  options.color = use_color(STDOUT_FILENO);
  print("{}\n", Layout{plot_curve({curve.steps, curve.values}, marks_of(findings), options)});
  for (const Plateau& plateau : findings.plateaus)
    print("plateau  {:g} to {:g} at {:.4g}\n", plateau.start, plateau.end, plateau.level);
  if (const auto& rise = findings.first_rise)
    print("first-rise {:g} (10-90%: {:g} to {:g}), from {:.4g} to the plateau at {:.4g}: no moment\n", rise->step,
          rise->rise_start, rise->rise_end, rise->from, rise->to);
  for (const Moment& moment : findings.moments)
    print("moment   {:g} (10-90%: {:g} to {:g}), from {:.4g} to {:.4g}, score {:.2f}\n", moment.step, moment.rise_start,
          moment.rise_end, moment.from, moment.to, moment.score);
  for (const Moment& grok : findings.groks)
    print("grokking {:g} (10-90%: {:g} to {:g}), from {:.4g} to {:.4g}, long after training was solved: no moment\n",
          grok.step, grok.rise_start, grok.rise_end, grok.from, grok.to);
  if (const auto& rise = findings.under_way)
    print("under way: a rise that began at {:g}, from {:.4g}, and is at {:.4g} where the curve ends{}\n",
          rise->rise_start, rise->from, rise->reached,
          rise->kind == RiseKind::grokking ? ", long after training was solved" : "");
  if (findings.moments.empty()) print("no moment{}\n", findings.under_way ? " yet" : "");
}

Json to_json(const DetectorReport& report) {
  Json kinds = Json::array();
  for (const KindReport& kind : report.kinds)
    kinds.push_back({{"kind", kind.kind},
                     {"curves", kind.curves},
                     {"moments", kind.moments},
                     {"found", kind.found},
                     {"false_alarms", kind.false_alarms},
                     {"false_alarms_while_running", kind.online_alarms},
                     {"under_way", kind.under_way},
                     {"said_under_way", kind.said_under_way},
                     {"too_early", kind.too_early},
                     {"false_under_way", kind.false_under_way}});
  const auto timing = [](const TimingError& error) {
    return Json{{"median", error.median}, {"percentile_90", error.percentile_90}};
  };
  return {{"curves", report.curves},
          {"recall", report.recall},
          {"false_alarm_rate", report.false_alarm_rate},
          {"false_alarm_rate_while_running", report.online_false_alarm_rate},
          {"extra_rate", report.extra_rate},
          {"under_way_recall", report.under_way_recall},
          {"too_early_rate", report.too_early_rate},
          {"false_under_way_rate", report.false_under_way_rate},
          {"error_of_budget", timing(report.error_of_budget)},
          {"error_of_width", timing(report.error_of_width)},
          {"kinds", kinds}};
}

int self_check(const DetectArguments& arguments) {
  const DetectorReport drawn = check_detector(make_curve_corpus(arguments.curves, arguments.seed), {}, /*online=*/true);
  const DetectorReport real = check_detector(real_curves(CurveHalf::held_out), {}, /*online=*/true);
  if (arguments.json) {
    Json json = to_json(drawn);
    json["real_curves"] = to_json(real);
    print("{}\n", Lines{json.dump(2)});
  } else {
    print("drawn curves, seed {}\n{}\n", arguments.seed, Lines{format_report(drawn)});
    print("logs of real training runs that the detector was not tuned on\n{}", Lines{format_report(real)});
  }
  return kOk;
}

// "none" reads the one curve only.
std::optional<std::string> training_column_for(const DetectArguments& arguments, const LoadedCurve& curve) {
  if (arguments.training_column == "none") return std::nullopt;
  if (!arguments.training_column.empty()) return arguments.training_column;
  return training_column_of(curve.column, curve.available_columns);
}

int detect_in_file(const DetectArguments& arguments) {
  if (arguments.file.empty())
    throw Error(ErrorKind::usage, "eureka detect needs a file", {},
                "for example: eureka detect log.csv --column val_accuracy");
  const LoadedCurve curve = load_curve(arguments.file, if_given(arguments.column), if_given(arguments.step_column));
  const std::vector<CurvePoint> points = points_of(curve);
  DetectorOptions options;
  options.direction = arguments.direction == "auto" ? guess_direction(curve.column, points)
                      : arguments.direction == "up" ? Direction::up
                                                    : Direction::down;
  if (!std::isnan(arguments.level)) options.plateau_level = arguments.level;
  if (!std::isnan(arguments.best)) options.best_level = arguments.best;
  const std::optional<std::string> training_column = training_column_for(arguments, curve);
  std::vector<CurvePoint> training;
  if (training_column)
    training = points_of(load_curve(arguments.file, training_column, if_given(arguments.step_column)));
  const Findings findings = detect(points, training, options);
  const Extent extent = extent_of(points);
  if (!curve.note.empty()) tell("eureka: {}: {}\n", arguments.file, curve.note);
  if (arguments.json) {
    Json json = to_json(findings);
    json.update(to_json(extent));
    json["training_column"] = training_column ? Json(*training_column) : Json(nullptr);
    print("{}\n", Lines{json.dump(2)});
  } else {
    print_findings(curve, findings);
    print_extent(extent, points);
  }
  return kOk;
}

}  // namespace

void add_detect(Command& program) {
  Command verb =
      program.add_command("detect", "plateaus and moments in anybody's training log (CSV, JSONL, TensorBoard)");
  auto arguments = std::make_shared<DetectArguments>();
  verb.option("file", arguments->file, "CSV, JSONL, JSON, TensorBoard event file or directory, or a run directory");
  verb.option("--column", arguments->column, "which curve; guessed when left out");
  verb.option("--step-column", arguments->step_column, "which column holds the steps; guessed when left out");
  verb.option("--training-column", arguments->training_column,
              "the same metric on the training samples, to tell grokking from a moment; guessed when left out, none: "
              "not looked at");
  verb.option("--direction", arguments->direction, "where better is: up, down or auto").one_of({"auto", "up", "down"});
  verb.option("--plateau-level", arguments->level, "the level the task is known to stall at");
  verb.option("--best-level", arguments->best, "the best the metric can be, if known beside --plateau-level");
  verb.flag("--json", arguments->json, "machine-readable");
  verb.flag("--self-check", arguments->self_check, "no file: how good is the detector on labelled curves?");
  verb.option("--curves", arguments->curves, "with --self-check: number of curves").between(1, 1000000);
  verb.option("--seed", arguments->seed, "with --self-check: seed of the curves");
  verb.runs([=] { return arguments->self_check ? self_check(*arguments) : detect_in_file(*arguments); });
}

}  // namespace eureka::cli
