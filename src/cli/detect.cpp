// eureka detect: plateaus and moments in anybody's training log.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/output.h"
#include "cli/cli.h"
#include "cli/detect_many.h"
#include "cli/detected_log.h"
#include "cli/figure_file.h"
#include "io/json.h"
#include "report/finding_figure.h"
#include "stats/curve_corpus.h"
#include "stats/detector.h"
#include "stats/detector_check.h"
#include "stats/real_curves.h"

namespace eureka::cli {
namespace {

struct DetectArguments {
  std::vector<std::string> files;
  std::string column;
  std::string step_column;
  std::string training_column;
  std::string direction = "auto";
  std::string plot;
  double level = std::numeric_limits<double>::quiet_NaN();
  double best = std::numeric_limits<double>::quiet_NaN();
  bool json = false;
  bool watch = false;
  bool self_check = false;
  std::size_t curves = 2320;  // 80 of each kind
  std::uint64_t seed = kHeldOutSeed;
};

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
    print("{}\n", Lines{json.dump(2, Json::BadText::replace)});
  } else {
    print("drawn curves, seed {}\n{}\n", arguments.seed, Lines{format_report(drawn)});
    print("logs of real training runs that the detector was not tuned on\n{}", Lines{format_report(real)});
  }
  return kOk;
}

std::optional<std::string> if_given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
std::optional<double> if_given(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

CurveQuestion question_of(const DetectArguments& arguments) {
  CurveQuestion question{.column = if_given(arguments.column),
                         .step_column = if_given(arguments.step_column),
                         .training_column = if_given(arguments.training_column),
                         .plateau_level = if_given(arguments.level),
                         .best_level = if_given(arguments.best)};
  if (arguments.direction != "auto") question.direction = arguments.direction == "up" ? Direction::up : Direction::down;
  return question;
}

int detect_in_files(const DetectArguments& arguments) {
  if (arguments.files.empty())
    throw Error(ErrorKind::usage, "eureka detect needs a file", {},
                "for example: eureka detect log.csv --column val_accuracy; - reads standard input");
  const CurveQuestion question = question_of(arguments);
  const std::vector<std::string> logs = logs_in(arguments.files);
  if (!arguments.plot.empty() && (arguments.watch || logs.size() > 1))
    throw Error(ErrorKind::usage, "--plot draws one log as it is", {}, "give one file, without --watch");
  if (arguments.watch) {
    if (logs.size() > 1 || logs.front() == "-")
      throw Error(ErrorKind::usage, "--watch follows one file", {}, "watch several with several eureka detect");
    return watch_log(logs.front(), question);
  }
  if (logs.size() > 1) return detect_in_many(logs, question, arguments.json);
  const DetectedLog log = detect_in(LogSource(logs.front()), question);
  tell_how_it_was_read(log);
  if (!arguments.plot.empty())
    write_figure(
        finding_figure({log.curve.column, log.curve.step_column, log.curve.steps, log.curve.values}, log.findings),
        arguments.plot);
  if (arguments.json)
    print("{}\n", Lines{to_json(log).dump(2, Json::BadText::replace)});
  else
    print_log(log);
  return kOk;
}

}  // namespace

void add_detect(Command& program) {
  Command verb = program.add_command("detect", "plateaus and moments in anybody's training log");
  auto arguments = std::make_shared<DetectArguments>();
  verb.option("file", arguments->files,
              "logs: CSV, JSONL, JSON, TensorBoard event files, what a program printed, any of them packed by gzip, - "
              "for standard input; or directories: a run, or many of them");
  verb.option("--column", arguments->column, "which curve, or how its name begins; guessed when left out");
  verb.option("--step-column", arguments->step_column, "which column holds the steps; guessed when left out");
  verb.option("--training-column", arguments->training_column,
              "the same metric on the training samples, to tell grokking from a moment; guessed when left out, none: "
              "not looked at");
  verb.option("--direction", arguments->direction, "where better is: up, down or auto").one_of({"auto", "up", "down"});
  verb.option("--plateau-level", arguments->level, "the level the task is known to stall at");
  verb.option("--best-level", arguments->best, "the best the metric can be, if known beside --plateau-level");
  verb.option("--plot", arguments->plot,
              "also draw curve, plateaus and moments to this file: .svg, .png or .pdf, .csv for the data");
  verb.flag("--json", arguments->json, "machine-readable; of several logs a list");
  verb.flag("--watch", arguments->watch, "follow one growing log and report a moment when it comes");
  verb.flag("--self-check", arguments->self_check, "no file: how good is the detector on labelled curves?");
  verb.option("--curves", arguments->curves, "with --self-check: number of curves").between(1, 1000000);
  verb.option("--seed", arguments->seed, "with --self-check: seed of the curves");
  verb.runs([=] { return arguments->self_check ? self_check(*arguments) : detect_in_files(*arguments); });
}

}  // namespace eureka::cli
