#include "cli/detected_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>

#include "base/error.h"
#include "base/output.h"
#include "base/terminal.h"
#include "io/training_column.h"
#include "report/curve_plot.h"
#include "report/finding_marks.h"

namespace eureka::cli {
namespace {

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
  for (const Moment& moment : findings.moments) print("{}\n", Lines{moment_line(moment)});
  for (const Moment& grok : findings.groks)
    print("grokking {:g} (10-90%: {:g} to {:g}), from {:.4g} to {:.4g}, long after training was solved: no moment\n",
          grok.step, grok.rise_start, grok.rise_end, grok.from, grok.to);
  if (const auto& rise = findings.under_way)
    print("under way: a rise that began at {:g}, from {:.4g}, and is at {:.4g} where the curve ends{}\n",
          rise->rise_start, rise->from, rise->reached,
          rise->kind == RiseKind::grokking ? ", long after training was solved" : "");
  if (findings.moments.empty()) print("no moment{}\n", findings.under_way ? " yet" : "");
}

std::optional<std::string> training_column_for(const CurveQuestion& question, const LoadedCurve& curve) {
  if (question.training_column == "none") return std::nullopt;
  if (question.training_column) return question.training_column;
  return training_column_of(curve.column, curve.available_columns);
}

}  // namespace

LogSource::LogSource(std::string file) : file_(std::move(file)) {
  if (file_ == "-") text_.emplace(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  // What comes from a pipe comes once, and the training curve is looked for in it too.
  std::error_code ignored;
  if (fs::is_fifo(file_, ignored)) text_ = read_file(file_);
}

LoadedCurve LogSource::curve(const std::optional<std::string>& column,
                             const std::optional<std::string>& step_column) const {
  return text_ ? curve_in(*text_, file_ == "-" ? "standard input" : file_, column, step_column)
               : load_curve(file_, column, step_column);
}

DetectedLog detect_in(const LogSource& source, const CurveQuestion& question) {
  DetectedLog log{.file = source.name(), .curve = source.curve(question.column, question.step_column)};
  log.points = points_of(log.curve);
  log.options.direction = question.direction ? *question.direction : guess_direction(log.curve.column, log.points);
  log.options.plateau_level = question.plateau_level;
  log.options.best_level = question.best_level;
  log.training_column = training_column_for(question, log.curve);
  if (log.training_column) log.training = points_of(source.curve(log.training_column, question.step_column));
  log.findings = detect(log.points, log.training, log.options);
  return log;
}

Json to_json(const DetectedLog& log) {
  Json json = to_json(log.findings);
  json.update(to_json(extent_of(log.points)));
  json["file"] = log.file;
  json["column"] = log.curve.column;
  json["step_column"] = log.curve.step_column;
  json["direction"] = log.options.direction == Direction::up ? "up" : "down";
  json["training_column"] = log.training_column ? Json(*log.training_column) : Json(nullptr);
  if (!log.curve.line_like.empty()) json["line_like"] = log.curve.line_like;
  return json;
}

void print_log(const DetectedLog& log) {
  print_findings(log.curve, log.findings);
  print_extent(extent_of(log.points), log.points);
}

void tell_how_it_was_read(const DetectedLog& log) {
  if (!log.curve.line_like.empty())
    tell("eureka: {}: what a program printed; {} from lines like: {}\n", log.file, log.curve.column,
         log.curve.line_like);
  if (!log.curve.note.empty()) tell("eureka: {}: {}\n", log.file, log.curve.note);
}

std::string moment_line(const Moment& moment) {
  return fmt::format("moment   {:g} (10-90%: {:g} to {:g}), from {:.4g} to {:.4g}, score {:.2f}", moment.step,
                     moment.rise_start, moment.rise_end, moment.from, moment.to, moment.score);
}

}  // namespace eureka::cli
