#include "io/curve_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/suggest.h"
#include "io/csv.h"
#include "io/jsonl.h"
#include "io/tfevents.h"

namespace eureka {
namespace {

using Names = std::vector<std::string>;

// "Val/topAcc1" -> {"val", "top", "acc1"}: words as people separate them, in lower case.
Names words_of(std::string_view name) {
  Names words(1);
  bool after_lower = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = std::isupper(byte) != 0;
    if ((std::isalnum(byte) == 0 || (upper && after_lower)) && !words.back().empty()) words.emplace_back();
    if (std::isalnum(byte) != 0) words.back().push_back(static_cast<char>(std::tolower(byte)));
    after_lower = std::islower(byte) != 0;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

template <std::size_t N>
bool has_word(const Names& words, const std::array<std::string_view, N>& wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

bool has_part(const Names& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

bool is_clock(const Names& words) {
  static constexpr std::array<std::string_view, 9> kClock = {"time",    "timestamp", "walltime", "runtime", "date",
                                                             "elapsed", "seconds",   "duration", "hours"};
  return has_word(words, kClock);
}

// Higher is more usual; 0 for a name that is no count of steps.
int step_likeness(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kUsual = {
      "step",  "global step", "iteration",           "iter",         "steps",   "iterations",
      "iters", "train step",  "trainer global step", "update",       "updates", "num steps",
      "it",    "batch",       "tokens seen",         "samples seen", "epoch"};
  const std::string normal = fmt::format("{}", fmt::join(words_of(name), " "));
  const auto found = std::find(kUsual.begin(), kUsual.end(), normal);
  if (found != kUsual.end()) return static_cast<int>(2 * (kUsual.end() - found));
  static constexpr std::array<std::string_view, 4> kGrouped = {"/step", ".step", "/_step", "global_step"};
  return std::any_of(kGrouped.begin(), kGrouped.end(), [&](auto ending) { return name.ends_with(ending); }) ? 1 : 0;
}

// 4 validation accuracy, 3 accuracy, 2 validation loss, 1 loss, 0 something else.
int curve_likeness(const Names& words) {
  static constexpr std::array<std::string_view, 8> kHeldOut = {"val",        "valid", "validation", "eval",
                                                               "evaluation", "test",  "dev",        "heldout"};
  static constexpr std::array<std::string_view, 4> kAccuracy = {"acc", "acc1", "top1", "accuracies"};
  // W&B adds __MIN and __MAX; a best-so-far curve hides the plateau it came from.
  static constexpr std::array<std::string_view, 6> kDerived = {"min", "max", "std", "best", "count", "weight"};
  if (has_word(words, kDerived) || is_clock(words)) return 0;
  const bool held_out = has_word(words, kHeldOut);
  if (has_word(words, kAccuracy) || has_part(words, "accuracy")) return held_out ? 4 : 3;
  static constexpr std::array<std::string_view, 2> kLoss = {"nll", "perplexity"};
  if (has_word(words, kLoss) || has_part(words, "loss")) return held_out ? 2 : 1;
  return 0;
}

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
  for (const auto* named : {&request.column, &request.step_column})
    if (*named && std::find(all.begin(), all.end(), **named) == all.end())
      unknown_column(**named, numeric, request.where);
  choice.step_column = request.step_column;
  if (!choice.step_column) {
    Names candidates = numeric;
    if (request.column) std::erase(candidates, *request.column);
    // The only column is the curve, whatever it is called.
    if (all.size() > 1) choice.step_column = guess_step_column(candidates);
  }
  for (const std::string& name : numeric)
    if (name != choice.step_column) curve.available_columns.push_back(name);
  choice.column = request.column ? *request.column : guess_column(curve.available_columns, request.where);
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

void load_json(std::string_view text, const Request& request, LoadedCurve& curve) {
  const JsonTable table = parse_json_rows(text, request.where);
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

void load_events(const std::vector<ScalarSeries>& series, const Request& request, LoadedCurve& curve) {
  if (request.step_column && *request.step_column != "step" && *request.step_column != "wall_time")
    throw Error(ErrorKind::input, fmt::format("no step column '{}'", *request.step_column), request.where,
                "event files have 'step' and 'wall_time'");
  if (series.empty())
    throw Error(ErrorKind::input, "holds no scalars", request.where,
                "the run may have only just begun, or logged images and text alone");
  for (const ScalarSeries& one : series) curve.available_columns.push_back(one.tag);
  const Names& tags = curve.available_columns;
  curve.column = request.column ? *request.column : guess_column(tags, request.where);
  curve.step_column = request.step_column.value_or("step");
  const std::size_t chosen = index_of(tags, curve.column);
  if (chosen == tags.size()) unknown_column(curve.column, tags, request.where);
  for (const ScalarPoint& point : series[chosen].points)
    add_point(curve, curve.step_column == "step" ? static_cast<double>(point.step) : point.wall_time, point.value);
}

void load_file(const fs::path& path, const Request& request, LoadedCurve& curve) {
  std::string text = read_file(path);
  if (looks_like_tfevents(text) || path.filename().string().find("tfevents") != std::string::npos)
    return load_events(parse_tfevents(text, request.where), request, curve);
  // A machine that crashed can leave zeros where the last lines were to be.
  text.resize(text.find_last_not_of('\0') + 1);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string::npos)
    throw Error(ErrorKind::input, "is empty", request.where, "the log may have only just begun");
  if (text.starts_with("\x1F\x8B"))
    throw Error(ErrorKind::input, "is compressed", request.where, "unpack it with gunzip first");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw Error(ErrorKind::input, "is UTF-16 text", request.where, "save it as UTF-8");
  constexpr std::size_t kProbedBytes = 4096;
  if (const std::size_t zero = text.find('\0'); zero < kProbedBytes)
    throw Error(ErrorKind::input, "is a binary file of a kind we do not know",
                fmt::format("{}: byte {}", request.where, zero), "give a CSV, JSONL or TensorBoard event file");
  const std::string extension = path.extension().string();
  if (text[first] == '{' || text[first] == '[' || extension == ".jsonl" || extension == ".json" ||
      extension == ".ndjson")
    return load_json(text, request, curve);
  load_csv(std::move(text), request, curve);
}

void load_directory(const fs::path& path, const Request& request, LoadedCurve& curve) {
  std::error_code ignored;
  if (const fs::path metrics = path / "metrics.jsonl"; fs::exists(metrics, ignored))
    return load_file(metrics, {request.column, request.step_column, metrics.string()}, curve);
  for (const fs::path& place : {path, path / "tb"})
    if (fs::is_directory(place, ignored) && !list_event_files(place).empty())
      return load_events(read_tfevents(place), {request.column, request.step_column, place.string()}, curve);
  throw Error(ErrorKind::input, "holds neither metrics.jsonl nor TensorBoard event files", path.string(),
              "give the log file itself");
}

std::string describe_loss_of_rows(const LoadedCurve& curve) {
  Names parts;
  const auto rows = [](std::size_t n) { return fmt::format("{} row{}", n, n == 1 ? "" : "s"); };
  if (curve.dropped_rows > 0) parts.push_back(rows(curve.dropped_rows) + " torn or without a step left out");
  if (curve.replaced_rows > 0) parts.push_back(rows(curve.replaced_rows) + " replaced by later ones of the same steps");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

LoadedCurve load_curve(const fs::path& path, const std::optional<std::string>& column,
                       const std::optional<std::string>& step_column) {
  LoadedCurve curve;
  const std::string where = path.string();
  const Request request{column, step_column, where};
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    load_directory(path, request, curve);
  else
    load_file(path, request, curve);
  if (curve.steps.empty())
    throw Error(ErrorKind::input,
                curve.dropped_rows > 0
                    ? fmt::format("no row has both '{}' and a step in '{}'", curve.column, curve.step_column)
                    : fmt::format("column '{}' holds no values", curve.column),
                where, fmt::format("columns: {}", listing(curve.available_columns)));
  curve.note = describe_loss_of_rows(curve);
  return curve;
}

}  // namespace eureka
