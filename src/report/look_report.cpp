#include "report/look_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/printable.h"
#include "report/result_table.h"
#include "train/records/number_name.h"

namespace eureka {
namespace {

constexpr int kWidth = 100;

// The number of "layer12"; -1 of nothing.
std::int64_t number_of(const std::string& place) {
  std::int64_t number = -1;
  const std::size_t digits = place.find_first_of("0123456789");
  if (digits != std::string::npos) std::from_chars(place.data() + digits, place.data() + place.size(), number);
  return number;
}

// Layer, part (in the order they were seen in) and head.
using RowKey = std::tuple<std::int64_t, std::size_t, std::int64_t>;

// What one diagnostic saw at one step: rows by place, with the value of each number.
struct Seen {
  std::map<RowKey, std::map<std::string, double>> rows;
  std::vector<std::string> parts;
  bool has_layers = false, has_parts = false, has_heads = false;

  bool has(const std::string& number) const {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.second.contains(number); });
  }
};

Seen seen_by(const LookedDiagnostic& diagnostic, const Look& look) {
  Seen seen;
  for (const auto& [name, value] : look.numbers) {
    const auto parsed = parse_number_name(name);
    if (!parsed || parsed->diagnostic != diagnostic.name) continue;
    auto part = std::find(seen.parts.begin(), seen.parts.end(), parsed->part);
    if (part == seen.parts.end()) part = seen.parts.insert(part, parsed->part);
    const auto order = static_cast<std::size_t>(part - seen.parts.begin());
    seen.rows[{number_of(parsed->layer), order, number_of(parsed->head)}][parsed->number] = value;
    seen.has_layers = seen.has_layers || !parsed->layer.empty();
    seen.has_parts = seen.has_parts || !parsed->part.empty();
    seen.has_heads = seen.has_heads || !parsed->head.empty();
  }
  return seen;
}

std::string table_of(const Seen& seen, const std::vector<std::string>& numbers, bool color) {
  std::vector<ResultColumn> columns;
  if (seen.has_layers) columns.push_back({"layer", "layer", "", Align::right});
  if (seen.has_parts) columns.push_back({"part", "part", "", Align::left});
  if (seen.has_heads) columns.push_back({"head", "head", "", Align::right});
  for (const std::string& number : numbers) columns.push_back({number, number, "{:#.4g}"});
  ResultTable table(columns);
  for (const auto& [place, values] : seen.rows) {
    const auto& [layer, part, head] = place;
    std::vector<ResultCell> cells;
    if (seen.has_layers) cells.emplace_back(layer < 0 ? "-" : fmt::format("{}", layer));
    if (seen.has_parts) cells.emplace_back(seen.parts[part].empty() ? "-" : seen.parts[part]);
    if (seen.has_heads) cells.emplace_back(head < 0 ? "all" : fmt::format("{}", head));
    for (const std::string& number : numbers) {
      const auto value = values.find(number);
      cells.emplace_back(value == values.end() ? std::nan("") : value->second);
    }
    table.add_row(std::move(cells));
  }
  return table.text(color);
}

int width_of(const std::string& text) {
  int width = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    width = std::max(width, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return width;
}

// As many numbers side by side as there is room for, the others in a table below.
std::string tables_of(const Seen& seen, const std::vector<std::string>& numbers, bool color) {
  std::string text, table;
  std::vector<std::string> beside;
  for (const std::string& number : numbers) {
    beside.push_back(number);
    const std::string wider = table_of(seen, beside, color);
    if (beside.size() > 1 && width_of(wider) > kWidth) {
      text += table;
      beside = {number};
      table = table_of(seen, beside, color);
    } else {
      table = wider;
    }
  }
  return text + table;
}

std::string meanings_of(const LookedDiagnostic& diagnostic, const std::vector<std::string>& numbers) {
  std::size_t widest = 0;
  for (const std::string& number : numbers) widest = std::max(widest, number.size());
  std::string text;
  for (const NumberInfo& info : diagnostic.numbers)
    if (std::find(numbers.begin(), numbers.end(), info.name) != numbers.end())
      text += wrapped(fmt::format("{} [{}]", info.meaning, info.unit), kWidth,
                      fmt::format(" {:<{}}  ", info.name, widest), std::string(widest + 3, ' '));
  return text;
}

std::vector<std::string> numbers_seen(const LookedDiagnostic& diagnostic, const Seen& seen) {
  std::vector<std::string> names;
  for (const NumberInfo& info : diagnostic.numbers)
    if (seen.has(info.name)) names.push_back(info.name);
  return names;
}

bool has_files(const LookedDiagnostic& diagnostic, const Look& look) {
  return std::any_of(look.files.begin(), look.files.end(),
                     [&](const std::string& file) { return file.find(diagnostic.name + "/") != std::string::npos; });
}

std::string title_of(const LookedDiagnostic& diagnostic, bool color) {
  const std::string text = wrapped(fmt::format("{}: {}", diagnostic.name, diagnostic.description), kWidth, "", "  ");
  return color ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::string files_of(const LookReport& report) {
  std::set<std::string> files;
  for (const Look& look : report.looks) files.insert(look.files.begin(), look.files.end());
  std::string text;
  for (const std::string& file : files) text += printable(file) + "\n";
  if (text.empty()) return text;
  return (report.files_are_written ? "\n" : "\nwith --out DIR also, for each step:\n") + text;
}

template <class Take>
void for_each_number(const LookReport& report, const Take& take) {
  for (const Look& look : report.looks)
    for (const LookedDiagnostic& diagnostic : report.diagnostics)
      for (const auto& [name, value] : look.numbers)
        if (const auto parsed = parse_number_name(name); parsed && parsed->diagnostic == diagnostic.name)
          take(look.step, diagnostic, *parsed, value);
}

std::string unit_of(const LookedDiagnostic& diagnostic, const std::string& number) {
  for (const NumberInfo& info : diagnostic.numbers)
    if (info.name == number) return info.unit;
  return "";
}

ResultCell text_cell(const std::string& text) {
  if (text.empty()) return {};
  return text;
}

ResultCell number_cell(const std::string& place) {
  if (place.empty()) return {};
  return static_cast<double>(number_of(place));
}

}  // namespace

std::string look_text(const LookReport& report, bool color) {
  std::string text = wrapped(fmt::format("{} · {} {} samples", report.run, report.samples, report.data), kWidth);
  for (const LookedDiagnostic& diagnostic : report.diagnostics) {
    text += "\n" + title_of(diagnostic, color);
    std::vector<std::string> told;
    for (const Look& look : report.looks) {
      const Seen seen = seen_by(diagnostic, look);
      const std::vector<std::string> numbers = numbers_seen(diagnostic, seen);
      text += fmt::format("step {}\n", look.step);
      if (!numbers.empty())
        text += tables_of(seen, numbers, color);
      else if (has_files(diagnostic, look))
        text += " no numbers; its files are named below\n";
      else
        text += fmt::format(" nothing to see of it in this model ({})\n", printable(report.model));
      if (numbers.size() > told.size()) told = numbers;
    }
    text += meanings_of(diagnostic, told);
  }
  return text + files_of(report);
}

Json look_json(const LookReport& report) {
  Json numbers = Json::array(), rows = Json::array(), files = Json::array();
  for (const LookedDiagnostic& diagnostic : report.diagnostics)
    for (const NumberInfo& info : diagnostic.numbers)
      numbers.push_back(
          {{"diagnostic", diagnostic.name}, {"number", info.name}, {"unit", info.unit}, {"meaning", info.meaning}});
  for_each_number(report, [&](std::int64_t step, const LookedDiagnostic& diagnostic, const NumberName& name, double x) {
    Json row = {{"step", step}, {"diagnostic", diagnostic.name}, {"number", name.number}};
    if (!name.part.empty()) row["part"] = name.part;
    if (!name.layer.empty()) row["layer"] = number_of(name.layer);
    if (!name.head.empty()) row["head"] = number_of(name.head);
    row["value"] = x;
    rows.push_back(std::move(row));
  });
  for (const Look& look : report.looks)
    for (const std::string& file : look.files)
      if (report.files_are_written) files.push_back(file);
  return {{"run", report.run},  {"model", report.model}, {"data", report.data}, {"samples", report.samples},
          {"numbers", numbers}, {"rows", rows},          {"files", files}};
}

std::string look_csv(const LookReport& report) {
  std::vector<ResultColumn> columns;
  for (const char* key : {"step", "diagnostic", "number", "part", "layer", "head", "value", "unit"})
    columns.push_back({key, key});
  ResultTable table(columns);
  for_each_number(report, [&](std::int64_t step, const LookedDiagnostic& diagnostic, const NumberName& name, double x) {
    table.add_row({static_cast<double>(step), diagnostic.name, name.number, text_cell(name.part),
                   number_cell(name.layer), number_cell(name.head), x, unit_of(diagnostic, name.number)});
  });
  return table.csv();
}

}  // namespace eureka
