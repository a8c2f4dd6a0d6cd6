#include "report/condition_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "figure/axis.h"
#include "io/json.h"
#include "report/arm_tones.h"
#include "report/curve_figures.h"
#include "report/sections.h"

namespace eureka {
namespace {

constexpr std::uint64_t kMostBytes = 64 << 20;

// Columns that belong together in the tables of report/condition_report.h.
struct TheoryPair {
  const char* name;
  const char* theory;
  const char* measured;
  const char* title;
};
constexpr TheoryPair kPairs[] = {
    {"rate", "predicted", "measured", "rate of convergence, 1 - rho"},
    {"steps", "predicted_steps", "measured_steps", "steps to the wanted loss"},
    {"race", "theory", "first_hit", "steps to the wanted loss"},
    {"smallest", "starvation_bound", "smallest", "smallest eigenvalue (theory: an upper bound)"},
    {"query-key", "query_key_theory", "query_key", "exponent of the query-key block"},
    {"value", "value_theory", "value", "exponent of the value block"},
};
// What tells the rows of a table apart, the first that is there.
constexpr const char* kGroups[] = {"start", "kind", "delta", "problem"};

double number_in(const Json& row, const char* key) {
  const Json* value = row.find(key);
  return value != nullptr && value->is_number() ? value->get<double>() : std::nan("");
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? fmt::format("{:.5g}", value.get<double>()) : value.dump();
}

// First hits that depend on the eighth digit of the data: they say nothing of the theory.
bool is_chaotic(const Json& row) {
  const Json* twins = row.find("twins");
  return twins != nullptr && twins->is_string() && twins->get<std::string>().starts_with("chaotic");
}

std::string group_of(const Json& row) {
  for (const char* key : kGroups)
    if (const Json* value = row.find(key)) return fmt::format("{} {}", key, text_of(*value));
  return "measured";
}

// Measured against theory: what the law says exactly lies on the line.
ReportFigure pair_figure(const Json& rows, const TheoryPair& pair) {
  figure::Panel panel{.x = {.label = fmt::format("theory: {}", pair.title)}, .y = {.label = "measured"}};
  ArmTones tones;
  std::string csv = fmt::format("group,{},{}\n", pair.theory, pair.measured);
  double low = kLargestPlotted, high = -kLargestPlotted;
  for (const Json& row : rows) {
    const double theory = number_in(row, pair.theory), measured = number_in(row, pair.measured);
    if (!std::isfinite(theory) || !std::isfinite(measured) || is_chaotic(row)) continue;
    const std::string group = group_of(row);
    auto dots =
        std::find_if(panel.dots.begin(), panel.dots.end(), [&](const figure::Dots& d) { return d.name == group; });
    if (dots == panel.dots.end())
      dots = panel.dots.insert(dots, {.name = group, .color = tones.of(group).color, .points = {}});
    dots->points.push_back({theory, measured});
    low = std::min({low, theory, measured}), high = std::max({high, theory, measured});
    csv += fmt::format("{},{},{}\n", csv_cell(group), csv_number(theory), csv_number(measured));
  }
  if (panel.dots.empty()) return {};
  panel.x.is_logarithmic = panel.y.is_logarithmic = low > 0 && high > 20 * low;
  panel.series.push_back({"theory",
                          {.color = figure::Color::muted(), .dash = figure::Dash::dashed, .width = 1.4},
                          {{low, low}, {high, high}}});
  figure::Chart chart{.title = fmt::format("Does the measurement follow the theory: {}?", pair.title),
                      .panels = {panel}};
  return {.name = fmt::format("theory-{}", pair.name),
          .title = chart.title,
          .caption = "One dot for each case; on the dashed line measurement and theory are the same.",
          .draw = drawn(chart),
          .csv = std::move(csv)};
}

std::string rows_table(const Json& rows) {
  std::vector<std::string> heads;
  std::vector<HtmlRow> lines;
  for (const Json& row : rows) {
    if (heads.empty())
      for (const auto& [key, value] : row.items()) heads.push_back(key);
    HtmlRow line;
    for (const std::string& head : heads) line.cells.push_back(row.contains(head) ? text_of(row.at(head)) : "-");
    lines.push_back(std::move(line));
  }
  return html_table(heads, lines, TableOf::numbers);
}

bool is_table(const Json* rows) {
  return rows != nullptr && rows->is_array() &&
         std::all_of(rows->begin(), rows->end(), [](const Json& row) { return row.is_object(); });
}

std::optional<Json> condition_json(const fs::path& file) {
  if (!fs::is_regular_file(file)) return std::nullopt;
  std::optional<Json> json = Json::parse_if_valid(read_file(file, kMostBytes));
  const bool fits = json && json->is_object() && json->contains("tests") && is_table(json->find("rows"));
  return fits ? json : std::nullopt;
}

}  // namespace

bool is_condition_file(const fs::path& file) { return condition_json(file).has_value(); }

PageSection condition_section(const fs::path& file) {
  const std::optional<Json> json = condition_json(file);
  if (!json) throw Error(ErrorKind::input, "is not what eureka condition --json prints", file.string());
  PageSection section{
      .name = file.stem().string(), .title = fmt::format("Conditioning {}", file.stem().string()), .blocks = {}};
  section.add_html(paragraph(text_of(json->at("tests"))));
  for (const TheoryPair& pair : kPairs)
    if (ReportFigure figure = pair_figure(json->at("rows"), pair); figure.draw) section.add_figure(std::move(figure));
  section.add_html(heading("What was measured?") + rows_table(json->at("rows")));
  if (is_table(json->find("laws")))
    section.add_html(heading("What do the laws say of all of it?") + rows_table(json->at("laws")));
  if (json->contains("command"))
    section.add_html(heading("How is it repeated?") + code_block(command_text(text_of(json->at("command")))));
  if (json->contains("eureka"))
    section.add_html(heading("Where does it come from?") + definitions({{"eureka", text_of(json->at("eureka"))}}));
  return section;
}

}  // namespace eureka
