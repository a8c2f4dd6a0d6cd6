// eureka condition: the conditioning of softmax attention, theory beside measurement.
#include "cli/condition.h"
#include "base/output.h"
#include "base/process_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/files.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "io/csv.h"
#include "io/json.h"
#include "report/curve_plot.h"

namespace eureka::cli {

using theory::AttentionKind;
using theory::Index;

namespace {

std::string plotted(const LogCurve& curve) {
  PlotOptions options;
  options.title = curve.title;
  options.width = std::min(100, terminal_columns(STDOUT_FILENO));
  options.color = use_color(STDOUT_FILENO);
  return plot_curve({curve.x, curve.log10_values}, {}, options);
}

}  // namespace

void emit(const ConditionReport& report, const ConditionOutput& output) {
  if (!output.csv.empty()) atomic_write(output.csv, report.tables.front().csv());
  if (output.json) {
    Json json = {{"eureka", EUREKA_VERSION},
                 {"command", command_line()},
                 {"tests", report.theorem},
                 {"rows", report.tables.front().json()}};
    if (report.tables.size() > 1) json["laws"] = report.tables[1].json();
    print("{}\n", Lines{json.dump(2)});
    return;
  }
  print("{}\n", Lines{report.theorem});
  for (const ResultTable& table : report.tables)
    if (!table.rows().empty()) print("\n{}", Layout{table.text(use_color(STDOUT_FILENO))});
  if (!report.curve.x.empty()) print("\n{}", Layout{plotted(report.curve)});
  if (!report.note.empty()) print("\n{}\n", Lines{report.note});
}

void add_output_options(Command& verb, ConditionOutput& output) {
  verb.flag("--json", output.json, "machine-readable");
  verb.option("--csv", output.csv, "also write the table to this file");
}

void add_size_options(Command& verb, theory::TeacherSize& size) {
  verb.option("--examples", size.examples, "N: training examples").shows_default();
  verb.option("--tokens", size.tokens, "T: tokens per example").shows_default();
  verb.option("--features", size.features, "d: features per token, the dimension of the query").shows_default();
  verb.option("--outputs", size.outputs, "p: outputs per example").shows_default();
}

void add_threads_option(Command& verb, int& threads) {
  verb.option("--threads", threads, "cases at a time; 0: one per core. Results do not depend on it").between(0, 1024);
}

std::size_t threads_or_all(int threads) {
  return threads > 0 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
}

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text, const std::string& option) {
  std::vector<double> numbers;
  for (const std::string& part : split(text)) {
    const std::optional<double> number = parse_number(part);
    if (!number)
      throw Error(ErrorKind::usage, fmt::format("'{}' is no number", part), option,
                  "give numbers with commas between: 1,2,4");
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<Index> parse_counts(const std::string& text, const std::string& option) {
  std::vector<Index> counts;
  for (const double number : parse_numbers(text, option)) {
    if (!(number >= 0) || number > 1e9 || number != std::floor(number))
      throw Error(ErrorKind::usage, fmt::format("{:g} is no count", number), option, "give whole numbers: 0,4,16");
    counts.push_back(static_cast<Index>(number));
  }
  return counts;
}

std::vector<AttentionKind> parse_kinds(const std::string& text) {
  std::vector<AttentionKind> kinds;
  for (const std::string& part : split(text)) {
    const auto known = std::find_if(theory::kAttentionKinds.begin(), theory::kAttentionKinds.end(),
                                    [&](AttentionKind kind) { return part == theory::name_of(kind); });
    if (known == theory::kAttentionKinds.end()) {
      std::vector<std::string> names;
      for (const AttentionKind kind : theory::kAttentionKinds) names.emplace_back(theory::name_of(kind));
      throw Error(ErrorKind::usage, fmt::format("there is no attention kind '{}'", part), "--kinds",
                  did_you_mean(part, names));
    }
    kinds.push_back(*known);
  }
  return kinds;
}

void add_condition(Command& program) {
  Command verb = program.add_command("condition", "the conditioning of softmax attention: theory beside measurement");
  add_condition_jacobian(verb);
  add_condition_rates(verb);
  add_condition_sweep(verb);
  add_condition_race(verb);
  add_condition_scale(verb);
  add_condition_tables(verb);
}

}  // namespace eureka::cli
