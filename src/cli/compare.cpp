// eureka compare: the curves of several runs in one picture, their moments, and in what their configs differ.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/figure_file.h"
#include "io/json.h"
#include "report/curve_figures.h"
#include "report/sections.h"
#include "report/series_plot.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> places;
  std::string plot;
  bool json = false;
};

// The runs, and those right below a directory of runs, such as an arm of a study.
std::vector<fs::path> run_places(const std::vector<std::string>& places) {
  std::vector<fs::path> runs;
  for (const fs::path place : places) {
    if (is_run_directory(place)) {
      runs.push_back(place);
      continue;
    }
    std::vector<fs::path> below;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored))
      if (entry.is_directory(ignored) && is_run_directory(entry.path())) below.push_back(entry.path());
    if (below.empty())
      throw Error(ErrorKind::input, "holds no run", place.string(), "give directories that eureka train wrote to");
    std::sort(below.begin(), below.end());
    runs.insert(runs.end(), below.begin(), below.end());
  }
  return runs;
}

// Names that tell them apart: as much of the end of each path as that takes.
void name_apart(std::vector<RunData>& runs) {
  const auto tail = [](const fs::path& path, int parts) {
    fs::path name;
    for (fs::path rest = fs::absolute(path / "").lexically_normal().parent_path();
         parts > 0 && rest.has_relative_path(); rest = rest.parent_path(), --parts)
      name = name.empty() ? rest.filename() : rest.filename() / name;
    return name.string();
  };
  for (int parts = 1; parts <= 4; ++parts) {
    std::vector<std::string> names;
    for (RunData& run : runs) names.push_back(run.name = tail(run.directory, parts));
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) == names.end()) return;
  }
}

std::vector<RunData> read_runs(const std::vector<std::string>& places) {
  std::vector<RunData> runs;
  for (const fs::path& place : run_places(places)) {
    runs.push_back(read_run(place, {}));
    const RunData& run = runs.back();
    if (run.metric != runs.front().metric)
      throw Error(
          ErrorKind::input,
          fmt::format("is judged by {}, {} by {}", run.metric, runs.front().directory.string(), runs.front().metric),
          place.string(), "only curves of the same metric can be set side by side");
  }
  if (runs.size() < 2)
    throw Error(ErrorKind::usage, "eureka compare needs two runs or more", {},
                "for example: eureka compare runs/a runs/b; eureka show RUN shows one");
  name_apart(runs);
  return runs;
}

std::vector<std::string> differences_of(const std::vector<RunData>& runs) {
  std::vector<const ConfigEntries*> configs;
  for (const RunData& run : runs) configs.push_back(&run.config);
  return config_differences(configs);
}

std::string mark_of(std::size_t index) {
  constexpr std::size_t kLetters = 26;
  return std::string(1, static_cast<char>('a' + index % kLetters));
}

std::string picture_of(const std::vector<RunData>& runs) {
  std::vector<PlotSeries> series;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    series.push_back({mark_of(i), runs[i].name, {}, {}});
    for (const figure::Point& point : runs[i].metric_curve()) {
      series.back().steps.push_back(point.x);
      series.back().values.push_back(point.y);
    }
  }
  SeriesPlotOptions options;
  options.title = metric_label(runs.front().metric);
  options.width = std::min(100, terminal_columns(STDOUT_FILENO));
  options.height = PlotOptions{}.height;
  options.color = use_color(STDOUT_FILENO);
  options.logarithm = SeriesPlotOptions::Logarithm::never;
  PlotMarks marks;
  for (const RunData& run : runs)
    if (run.moment()) marks.moments.push_back({*run.moment()});
  return plot_series(series, marks, options);
}

std::string final_text(const RunData& run) {
  const std::optional<double> value = run.summary ? run.summary->final_validation_metric : std::nullopt;
  return value ? fmt::format("{:.3f}", *value) : "-";
}

void print_comparison(const std::vector<RunData>& runs) {
  print("{}", Layout{picture_of(runs)});
  TextTable table({{"", Align::left}, {"run", Align::left}, {"status", Align::left}, {"seed"}, {"moment"}, {"final"}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [meta, summary] = std::tie(runs[i].meta, runs[i].summary);
    table.add_row({mark_of(i), runs[i].name,
                   summary ? status_name(summary->status)
                   : meta  ? status_name(meta->status)
                           : "unknown",
                   meta ? fmt::format("{}", meta->seed) : "-",
                   runs[i].moment() ? fmt::format("{:.0f}", *runs[i].moment()) : "none", final_text(runs[i])});
  }
  print("{}", Layout{table.str()});
  const std::vector<std::string> differences = differences_of(runs);
  print("set differently from {}:\n", runs.front().name);
  for (std::size_t i = 1; i < runs.size(); ++i)
    print("{} {}\n", mark_of(i), differences[i].empty() ? "nothing" : differences[i]);
  for (const RunData& run : runs)
    for (const std::string& problem : run.problems) tell("eureka: {}: {}\n", run.directory.string(), problem);
}

Json to_json(const std::vector<RunData>& runs) {
  const std::vector<std::string> differences = differences_of(runs);
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunData& run = runs[i];
    Json one = {{"run", run.directory.string()}, {"metric", run.metric}, {"differs", differences[i]}};
    one["status"] = run.summary ? Json(status_name(run.summary->status)) : Json(nullptr);
    one["moment"] = run.moment() ? Json(*run.moment()) : Json(nullptr);
    const bool ended = run.summary && run.summary->final_validation_metric;
    one["final"] = ended ? Json(*run.summary->final_validation_metric) : Json(nullptr);
    list.push_back(std::move(one));
  }
  return list;
}

// Each run a group of its own, so that one curve is drawn for each.
ReportFigure figure_of(const std::vector<RunData>& runs) {
  GroupFigureSubject subject{{}, runs.front().name, "", ""};
  for (const RunData& run : runs) subject.groups.push_back({run.name, {&run}});
  ArmTones tones;
  tones.set_baseline(subject.baseline);
  return medians_figure(subject, tones);
}

int compare(const CompareArguments& arguments) {
  const std::vector<RunData> runs = read_runs(arguments.places);
  if (!arguments.plot.empty()) write_figure(figure_of(runs), arguments.plot);
  if (arguments.json)
    print("{}\n", Lines{to_json(runs).dump(2, Json::BadText::replace)});
  else
    print_comparison(runs);
  return kOk;
}

}  // namespace

void add_compare(Command& program) {
  Command verb =
      program.add_command("compare", "curves of several runs in one picture, their moments, how their configs differ");
  auto arguments = std::make_shared<CompareArguments>();
  verb.option("runs", arguments->places, "directories of runs, or of several runs each, such as an arm of a study")
      .required();
  verb.option("--plot", arguments->plot, "also draw the curves to this file: .svg, .png or .pdf, .csv for the data");
  verb.flag("--json", arguments->json, "machine-readable");
  verb.runs([=] { return compare(*arguments); });
}

}  // namespace eureka::cli
