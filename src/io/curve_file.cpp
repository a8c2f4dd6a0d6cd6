#include "io/curve_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/suggest.h"
#include "io/byte_source.h"
#include "io/column_names.h"
#include "io/console_log.h"
#include "io/csv.h"
#include "io/jsonl.h"
#include "io/tfevents.h"

namespace eureka {
namespace {

using Names = std::vector<std::string>;

std::string listing(const Names& names) {
  constexpr std::size_t kShown = 20;
  const Names shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  const std::string rest = names.size() > kShown ? fmt::format(", and {} more", names.size() - kShown) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), rest);
}

[[noreturn]] void unknown_column(const std::string& name, const Names& names, const std::string& where) {
  const std::string nearest = nearest_name(name, names);
  throw Error(
      ErrorKind::input, fmt::format("no column '{}'", name), where,
      nearest.empty() ? fmt::format("columns: {}", listing(names)) : fmt::format("did you mean '{}'?", nearest));
}

// A name as it was given, or the one column that begins with it.
std::string full_name(const std::string& name, const Names& offered, const Names& all, const std::string& where) {
  if (std::find(all.begin(), all.end(), name) != all.end()) return name;
  Names begun;
  std::copy_if(all.begin(), all.end(), std::back_inserter(begun),
               [&](const std::string& one) { return !name.empty() && one.starts_with(name); });
  if (begun.size() == 1) return begun.front();
  if (begun.empty()) unknown_column(name, offered, where);
  throw Error(ErrorKind::input, fmt::format("several columns begin with '{}'", name), where,
              fmt::format("say which: {}", listing(begun)));
}

// The column to take when none was named.
std::string guess_column(const Names& names, const std::string& where) {
  const std::string* best = nullptr;
  int best_likeness = 0;
  std::size_t best_words = 0;
  Names plain;
  for (const std::string& name : names) {
    const Names words = words_of(name);
    const int likeness = curve_likeness(words);
    if (step_likeness(name) == 0 && !is_clock(words)) plain.push_back(name);
    // Of equals the plainest name, then the first: val_accuracy before val_accuracy_after_attack.
    if (likeness > best_likeness || (likeness > 0 && likeness == best_likeness && words.size() < best_words)) {
      best = &name;
      best_likeness = likeness;
      best_words = words.size();
    }
  }
  if (best != nullptr) return *best;
  if (plain.size() == 1) return plain.front();
  if (names.size() == 1) return names.front();
  if (names.empty())
    throw Error(ErrorKind::input, "holds no column of numbers but the steps", where,
                "give a log with one row per step");
  throw Error(ErrorKind::input, "cannot tell which column is the curve", where,
              fmt::format("name one with --column: {}", listing(names)));
}

std::optional<std::string> guess_step_column(const Names& names) {
  const auto best = std::max_element(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return step_likeness(a) < step_likeness(b);
  });
  if (best == names.end() || step_likeness(*best) == 0) return std::nullopt;
  return *best;
}

std::size_t index_of(const Names& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

struct Choice {
  std::string column;
  std::optional<std::string> step_column;  // nothing: rows are counted
};

struct Request {
  const std::optional<std::string>& column;
  const std::optional<std::string>& step_column;
  const std::string& where;
};

// `numeric` are the columns of numbers; `all` are those a user may name.
Choice choose(const Request& request, const Names& numeric, const Names& all, LoadedCurve& curve) {
  if (numeric.empty())
    throw Error(ErrorKind::input, "holds no column of numbers", request.where, "give a log with one row per step");
  Choice choice;
  const auto named = [&](const std::optional<std::string>& name) {
    return name ? std::optional(full_name(*name, numeric, all, request.where)) : std::nullopt;
  };
  const std::optional<std::string> column = named(request.column);
  choice.step_column = named(request.step_column);
  if (!choice.step_column) {
    Names candidates = numeric;
    if (column) std::erase(candidates, *column);
    // The only column is the curve, whatever it is called.
    if (all.size() > 1) choice.step_column = guess_step_column(candidates);
  }
  for (const std::string& name : numeric)
    if (name != choice.step_column) curve.available_columns.push_back(name);
  choice.column = column ? *column : guess_column(curve.available_columns, request.where);
  curve.column = choice.column;
  curve.step_column = choice.step_column.value_or("row");
  return choice;
}

// Keeps the steps of `curve` strictly increasing while points arrive in the order of the file.
void add_point(LoadedCurve& curve, double step, double value) {
  if (!std::isfinite(step)) {
    ++curve.dropped_rows;
    return;
  }
  while (!curve.steps.empty() && curve.steps.back() >= step) {
    curve.steps.pop_back();
    curve.values.pop_back();
    ++curve.replaced_rows;
  }
  curve.steps.push_back(step);
  curve.values.push_back(value);
}

// Two columns of numbers without a header are steps and values, if the first only grows.
bool first_column_grows(const CsvTable& table) {
  bool grows = true;
  double last = -std::numeric_limits<double>::infinity();
  const std::array<std::size_t, 1> first = {0};
  table.read(first, [&](std::span<const CsvCell> row) {
    grows &= row[0].present && row[0].value > last;
    last = row[0].value;
  });
  return grows;
}

void load_csv(std::string text, const Request& request, LoadedCurve& curve) {
  const CsvTable table(std::move(text), request.where);
  const std::vector<bool> is_numeric = table.numeric_columns();
  Names numeric;
  for (std::size_t i = 0; i < is_numeric.size(); ++i)
    if (is_numeric[i]) numeric.push_back(table.columns()[i]);
  if (numeric.empty() && !table.columns().empty()) {
    bool any_row = false;
    table.read({}, [&](std::span<const CsvCell>) { any_row = true; });
    if (!any_row)
      throw Error(ErrorKind::input, "holds a header but no rows", request.where, "the log may have only just begun");
  }
  const bool counted_first = !request.step_column && !table.has_header() && numeric.size() > 1 && is_numeric[0] &&
                             request.column != table.columns()[0] && first_column_grows(table);
  const std::optional<std::string> step_column = counted_first ? table.columns()[0] : request.step_column;
  const Choice choice = choose({request.column, step_column, request.where}, numeric, table.columns(), curve);

  const std::size_t column = index_of(table.columns(), choice.column);
  const std::size_t step = choice.step_column ? index_of(table.columns(), *choice.step_column) : column;
  const std::array<std::size_t, 2> wanted = {step, column};
  double row_number = 0;
  const bool whole = table.read(wanted, [&](std::span<const CsvCell> row) {
    ++row_number;
    if (!row[1].present) return;
    if (row[0].present)
      add_point(curve, choice.step_column ? row[0].value : row_number, row[1].value);
    else
      ++curve.dropped_rows;
  });
  if (!whole) ++curve.dropped_rows;
}

void load_table(const JsonTable& table, const Request& request, LoadedCurve& curve) {
  Names names;
  for (const JsonColumn& column : table.columns) names.push_back(column.name);
  const Choice choice = choose(request, names, names, curve);
  const JsonColumn& column = table.columns[index_of(names, choice.column)];
  const JsonColumn* steps = choice.step_column ? &table.columns[index_of(names, *choice.step_column)] : nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < column.rows.size(); ++i) {
    if (steps == nullptr) {
      add_point(curve, static_cast<double>(column.rows[i] + 1), column.values[i]);
      continue;
    }
    while (at < steps->rows.size() && steps->rows[at] < column.rows[i]) ++at;
    if (at < steps->rows.size() && steps->rows[at] == column.rows[i])
      add_point(curve, steps->values[at], column.values[i]);
    else
      ++curve.dropped_rows;
  }
  if (table.torn) ++curve.dropped_rows;
}

// Numbers between the words of a program's output; the columns of a table are not taken for that.
bool is_console_log(const std::string& text, const std::string& where) {
  if (!looks_like_console_log(text)) return false;
  try {
    const CsvTable table(text, where);
    const auto is_number = [](const std::string& cell) { return parse_number(cell).has_value(); };
    if (std::any_of(table.columns().begin(), table.columns().end(), is_number)) return true;
    const std::vector<bool> numeric = table.numeric_columns();
    return std::find(numeric.begin(), numeric.end(), true) == numeric.end();
  } catch (const Error&) {
    return true;
  }
}

void load_console_log(const std::string& text, const Request& request, LoadedCurve& curve) {
  const ConsoleLog log = parse_console_log(text);
  load_table(log.table, request, curve);
  const auto like = log.line_like.find(curve.column);
  curve.line_like = like == log.line_like.end() ? "" : like->second;
}

void load_events(const std::vector<ScalarSeries>& series, const Request& request, LoadedCurve& curve) {
  if (request.step_column && *request.step_column != "step" && *request.step_column != "wall_time")
    throw Error(ErrorKind::input, fmt::format("no step column '{}'", *request.step_column), request.where,
                "event files have 'step' and 'wall_time'");
  if (series.empty())
    throw Error(ErrorKind::input, "holds no scalars", request.where,
                "the run may have only just begun, or logged images and text alone");
  for (const ScalarSeries& one : series) curve.available_columns.push_back(one.tag);
  const Names& tags = curve.available_columns;
  curve.column =
      request.column ? full_name(*request.column, tags, tags, request.where) : guess_column(tags, request.where);
  curve.step_column = request.step_column.value_or("step");
  for (const ScalarPoint& point : series[index_of(tags, curve.column)].points)
    add_point(curve, curve.step_column == "step" ? static_cast<double>(point.step) : point.wall_time, point.value);
}

// What a gzip file holds; a bomb is refused.
std::string unpacked(const std::string& packed, const std::string& where) {
  constexpr std::size_t kMost = std::size_t{1} << 31, kPiece = std::size_t{1} << 20;
  const auto source = open_bytes(packed, where);
  std::string text;
  for (std::size_t got = kPiece; got > 0;) {
    const std::size_t before = text.size();
    if (before >= kMost)
      throw Error(ErrorKind::input, fmt::format("unpacks to more than {} bytes", kMost), where, "unpack and cut it");
    text.resize(before + kPiece);
    got = source->read(text.data() + before, kPiece);
    text.resize(before + got);
  }
  return text;
}

// MLflow keeps a file for each metric: time in milliseconds, value, step.
bool is_mlflow_metric(const std::string& text, const std::string& where) {
  constexpr double kMillisecondsOf2001 = 1e12;
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  const std::size_t one = line.find(' '), two = line.find(' ', one + 1);
  if (one == std::string::npos || two == std::string::npos || fs::path(where).parent_path().filename() != "metrics")
    return false;
  const auto time = parse_number(line.substr(0, one));
  return time && *time > kMillisecondsOf2001 && parse_number(line.substr(one + 1, two - one - 1)) &&
         parse_number(line.substr(two + 1));
}

void load_mlflow_metric(const std::string& text, const Request& request, LoadedCurve& curve) {
  const std::string name = fs::path(request.where).filename().string();
  load_csv("time " + name + " step\n" + text, request, curve);
}

// An object, or an array of them; neither a dictionary that Python printed nor a line that begins with a date.
bool is_json(const std::string& text, std::size_t first) {
  const std::size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  const char next = second == std::string::npos ? '\0' : text[second];
  return text[first] == '{' ? next != '\'' : text[first] == '[' && (next == '{' || next == ']' || next == '\0');
}

void load_text(std::string text, const fs::path& path, const Request& request, LoadedCurve& curve) {
  if (text.starts_with("\x1F\x8B")) {
    fs::path inside = path;
    if (inside.extension() == ".gz") inside.replace_extension();
    return load_text(unpacked(text, request.where), inside, request, curve);
  }
  if (looks_like_tfevents(text) || path.filename().string().find("tfevents") != std::string::npos)
    return load_events(parse_tfevents(text, request.where), request, curve);
  // A machine that crashed can leave zeros where the last lines were to be.
  text.resize(text.find_last_not_of('\0') + 1);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string::npos)
    throw Error(ErrorKind::input, "is empty", request.where, "the log may have only just begun");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw Error(ErrorKind::input, "is UTF-16 text", request.where, "save it as UTF-8");
  constexpr std::size_t kProbedBytes = 4096;
  if (const std::size_t zero = text.find('\0'); zero < kProbedBytes)
    throw Error(ErrorKind::input, "is a binary file of a kind we do not know",
                fmt::format("{}: byte {}", request.where, zero), "give a CSV, JSONL or TensorBoard event file");
  const std::string extension = path.extension().string();
  if (is_json(text, first) || extension == ".jsonl" || extension == ".json" || extension == ".ndjson")
    return load_table(parse_json_rows(text, request.where), request, curve);
  if (is_mlflow_metric(text, request.where)) return load_mlflow_metric(text, request, curve);
  if (is_console_log(text, request.where)) return load_console_log(text, request, curve);
  load_csv(std::move(text), request, curve);
}

// Where the log of a directory is: a file of rows, or a directory of event files. Nothing if it has none.
std::optional<fs::path> log_inside(const fs::path& directory) {
  std::error_code ignored;
  if (const fs::path metrics = directory / "metrics.jsonl"; fs::exists(metrics, ignored)) return metrics;
  for (const fs::path& place : {directory, directory / "tb"})
    if (fs::is_directory(place, ignored) && !list_event_files(place).empty()) return place;
  return std::nullopt;
}

void load_directory(const fs::path& path, const Request& request, LoadedCurve& curve) {
  const std::optional<fs::path> log = log_inside(path);
  if (!log)
    throw Error(ErrorKind::input, "holds neither metrics.jsonl nor TensorBoard event files", path.string(),
                "give the log file itself");
  const std::string where = log->string();
  const Request inside{request.column, request.step_column, where};
  std::error_code ignored;
  if (fs::is_directory(*log, ignored)) return load_events(read_tfevents(*log), inside, curve);
  load_text(read_file(*log), *log, inside, curve);
}

std::string describe_loss_of_rows(const LoadedCurve& curve) {
  Names parts;
  const auto rows = [](std::size_t n) { return fmt::format("{} row{}", n, n == 1 ? "" : "s"); };
  if (curve.dropped_rows > 0) parts.push_back(rows(curve.dropped_rows) + " torn or without a step left out");
  if (curve.replaced_rows > 0) parts.push_back(rows(curve.replaced_rows) + " replaced by later ones of the same steps");
  return fmt::format("{}", fmt::join(parts, "; "));
}

LoadedCurve checked(LoadedCurve curve, const std::string& where) {
  if (curve.steps.empty())
    throw Error(ErrorKind::input,
                curve.dropped_rows > 0
                    ? fmt::format("no row has both '{}' and a step in '{}'", curve.column, curve.step_column)
                    : fmt::format("column '{}' holds no values", curve.column),
                where, fmt::format("columns: {}", listing(curve.available_columns)));
  curve.note = describe_loss_of_rows(curve);
  return curve;
}

}  // namespace

bool is_log_directory(const fs::path& directory) { return log_inside(directory).has_value(); }

LoadedCurve load_curve(const fs::path& path, const std::optional<std::string>& column,
                       const std::optional<std::string>& step_column) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return curve_in(read_file(path), path, column, step_column);
  LoadedCurve curve;
  const std::string where = path.string();
  load_directory(path, {column, step_column, where}, curve);
  return checked(std::move(curve), where);
}

LoadedCurve curve_in(std::string text, const fs::path& path, const std::optional<std::string>& column,
                     const std::optional<std::string>& step_column) {
  LoadedCurve curve;
  const std::string where = path.string();
  load_text(std::move(text), path, {column, step_column, where}, curve);
  return checked(std::move(curve), where);
}

}  // namespace eureka
