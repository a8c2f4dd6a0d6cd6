#include "cli/detect_many.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "io/column_names.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

// Below a run there are only parts of it.
void add_runs_below(const fs::path& directory, int depth, std::vector<std::string>& runs) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest) return;
  std::vector<fs::path> inside;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) inside.push_back(entry.path());
  std::sort(inside.begin(), inside.end());
  for (const fs::path& place : inside) {
    if (is_log_directory(place))
      runs.push_back(place.string());
    else
      add_runs_below(place, depth + 1, runs);
  }
}

std::vector<std::string> columns_asked_for(const LogSource& source, const CurveQuestion& question) {
  const LoadedCurve guessed = source.curve(question.column, question.step_column);
  if (question.column) return {guessed.column};
  std::vector<std::string> columns;
  for (const std::string& column : guessed.available_columns)
    if (curve_likeness(words_of(column)) > 0) columns.push_back(column);
  return columns.empty() ? std::vector{guessed.column} : columns;
}

std::string steps_of(const std::vector<Moment>& moments) {
  std::string text;
  for (const Moment& moment : moments) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", moment.step);
  return text.empty() ? "-" : text;
}

// Up to the last '/' before which all paths are the same: said once, above the table.
std::size_t common_place(const std::vector<std::string>& logs) {
  std::string_view same = logs.front();
  for (const std::string_view log : logs) {
    const auto end = std::mismatch(same.begin(), same.end(), log.begin(), log.end()).first;
    same = same.substr(0, static_cast<std::size_t>(end - same.begin()));
  }
  const std::size_t slash = same.rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

std::vector<std::string> table_row(const DetectedLog& log, std::size_t place) {
  const std::size_t used = usable_points(log.points);
  return {log.file.substr(place),
          log.curve.column,
          fmt::format("{}", used),
          used > 0 ? fmt::format("{:g}", log.points[used - 1].step) : "-",
          used > 0 ? fmt::format("{:.4g}", log.points[used - 1].value) : "-",
          steps_of(log.findings.moments),
          log.findings.under_way ? "yes" : ""};
}

// Of a curve that may go on: those whose new level has held.
std::vector<Moment> held_moments(const DetectedLog& log) {
  MomentDetector so_far(log.options);
  for (const CurvePoint& point : log.points) so_far.add(point.step, point.value);
  for (const CurvePoint& point : log.training) so_far.add_training(point.step, point.value);
  return so_far.moments();
}

}  // namespace

std::vector<std::string> logs_in(const std::vector<std::string>& places) {
  std::vector<std::string> logs;
  for (const std::string& place : places) {
    std::error_code ignored;
    const std::size_t before = logs.size();
    if (fs::is_directory(place, ignored) && !is_log_directory(place)) add_runs_below(place, 0, logs);
    if (logs.size() == before) logs.push_back(place);
  }
  return logs;
}

int detect_in_many(const std::vector<std::string>& logs, const CurveQuestion& question, bool json) {
  TextTable table({{"log", Align::left},
                   {"curve", Align::left},
                   {"points"},
                   {"last step"},
                   {"last value"},
                   {"moments at"},
                   {"under way"}});
  const std::size_t place = common_place(logs);
  Json all = Json::array();
  std::size_t read = 0;
  for (const std::string& log : logs) {
    try {
      const LogSource source(log);
      for (const std::string& column : columns_asked_for(source, question)) {
        CurveQuestion one = question;
        one.column = column;
        const DetectedLog found = detect_in(source, one);
        table.add_row(table_row(found, place));
        if (json) all.push_back(to_json(found));
      }
      ++read;
    } catch (const Error& error) {
      tell("eureka: {}\n", error.message());
    }
  }
  if (read == 0)
    throw Error(ErrorKind::input, fmt::format("none of {} logs could be read", logs.size()), {},
                "what is wrong with each is said above");
  if (json)
    print("{}\n", Lines{all.dump(2, Json::BadText::replace)});
  else if (place > 0)
    print("in {}\n{}", logs.front().substr(0, place), Layout{table.str()});
  else
    print("{}", Layout{table.str()});
  return kOk;
}

int watch_log(const std::string& log, const CurveQuestion& question) {
  constexpr auto kLookEvery = std::chrono::milliseconds(500);
  std::vector<double> told;
  std::size_t points = 0;
  std::uintmax_t bytes = 0;
  for (; !stop_requested(); std::this_thread::sleep_for(kLookEvery)) {
    std::error_code is_directory;  // which has no size: what is inside may have grown
    const std::uintmax_t bytes_now = fs::file_size(log, is_directory);
    if (points > 0 && !is_directory && bytes_now == bytes) continue;
    bytes = bytes_now;
    const DetectedLog now = detect_in(LogSource(log), question);
    if (points == 0) {
      tell_how_it_was_read(now);
      tell("eureka: watching {} of {}; Ctrl-C ends it\n", now.curve.column, log);
    }
    points = now.points.size();
    for (const Moment& moment : held_moments(now)) {
      const auto same = [&](double step) { return step >= moment.rise_start && step <= moment.rise_end; };
      if (std::any_of(told.begin(), told.end(), same)) continue;
      told.push_back(moment.step);
      print("{}\n", Lines{moment_line(moment)});
      finish_output();
    }
  }
  return kOk;
}

}  // namespace eureka::cli
