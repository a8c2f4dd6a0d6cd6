// What diagnostics saw in a run around its moment: small multiples of numbers, layers and heads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diagnostics/diagnostic.h"
#include "report/curve_figures.h"
#include "report/run_figures.h"

namespace eureka {
namespace {

using figure::Panel;

constexpr std::size_t kMostPanels = 120;
// As many as there are colors: more cannot be told apart.
constexpr std::size_t kMostLines = 8;

// The lines of one panel: those of a number in one layer, or of a part of it where there are many.
struct PanelKey {
  std::string number, layer, part;
  bool operator==(const PanelKey&) const = default;
};
struct PanelLines {
  PanelKey key;
  std::vector<std::pair<NumberName, const RunCurve*>> lines;
};

using Diagnostics = std::vector<std::pair<std::string, std::vector<PanelLines>>>;

template <class List, class Key>
auto& found_or_added(List& list, const Key& key) {
  for (auto& one : list)
    if constexpr (requires { one.first; }) {
      if (one.first == key) return one;
    } else {
      if (one.key == key) return one;
    }
  if constexpr (requires { list.back().first; })
    list.push_back({key, {}});
  else
    list.push_back({.key = key, .lines = {}});
  return list.back();
}

// Parts that are told head by head get a panel each where one would hold too many lines.
std::vector<PanelLines> parted(std::vector<PanelLines> panels) {
  std::vector<PanelLines> all;
  for (PanelLines& panel : panels) {
    std::set<std::string> with_heads;
    for (const auto& [name, curve] : panel.lines)
      if (!name.head.empty()) with_heads.insert(name.part);
    if (panel.lines.size() <= kMostLines || with_heads.size() < 2) {
      all.push_back(std::move(panel));
      continue;
    }
    for (const auto& line : panel.lines) {
      const std::string& part = line.first.part;
      found_or_added(all, PanelKey{panel.key.number, panel.key.layer, with_heads.contains(part) ? part : ""})
          .lines.push_back(line);
    }
  }
  return all;
}

Diagnostics diagnostics_of(const RunData& run) {
  Diagnostics all;
  for (const RunCurve& curve : run.curves)
    if (const std::optional<NumberName> name = parse_number_name(curve.name)) {
      auto& panels = found_or_added(all, name->diagnostic).second;
      found_or_added(panels, PanelKey{name->number, name->layer, ""}).lines.emplace_back(*name, &curve);
    }
  for (auto& [diagnostic, panels] : all) panels = parted(std::move(panels));
  return all;
}

// As far around the moment as tells something: six times its rise to either side, and at least a fifth of the run.
std::optional<figure::Stretch> around_moment(const RunData& run) {
  if (!run.summary || !run.summary->moment) return std::nullopt;
  const MomentSummary& moment = *run.summary->moment;
  const double reach = std::max(6 * moment.rise_width(), 0.2 * static_cast<double>(run.summary->steps));
  return figure::Stretch{std::max(0.0, moment.step - reach),
                         std::min(static_cast<double>(run.summary->steps), moment.step + reach)};
}

std::string line_name(const NumberName& name, const PanelKey& panel) {
  std::string text = name.part == panel.part ? "" : name.part;
  if (!name.head.empty()) text += (text.empty() ? "" : " ") + name.head;
  return text.empty() ? "whole" : text;
}

// "entropy, layer0 (share of log(keys))"
std::string panel_title(const PanelLines& lines) {
  std::string title = lines.key.number;
  if (!lines.key.part.empty()) title += ", " + lines.key.part;
  if (!lines.key.layer.empty()) title += ", " + lines.key.layer;
  const std::string unit = unit_of(lines.lines.front().first);
  return unit.empty() ? title : fmt::format("{} ({})", title, unit);
}

Panel panel_of(const PanelLines& lines, const RunData& run, ArmTones& tones) {
  Panel panel{.title = panel_title(lines), .x = {.label = "training step"}};
  if (const auto stretch = around_moment(run)) panel.x.low = stretch->from, panel.x.high = stretch->to;
  const bool is_only_one = lines.lines.size() == 1;
  for (const auto& [name, curve] : lines.lines) {
    const bool is_whole = name.head.empty() && name.part == lines.key.part;
    figure::Tone tone = is_whole ? figure::Tone{.width = 2} : tones.of(line_name(name, lines.key));
    if (!is_whole) tone.width = 1.2;
    std::string shown = is_whole ? (is_only_one ? "" : "mean over heads, or whole") : line_name(name, lines.key);
    panel.series.push_back({std::move(shown), tone, curve->points});
  }
  for (const PlotMoment& moment : run.marks.moments)
    panel.lines.push_back({.at = moment.step,
                           .tone = {.color = figure::Color::moment(), .dash = figure::Dash::dotted, .width = 1.4},
                           .name = "moment"});
  return panel;
}

}  // namespace

std::string unit_of(const NumberName& number) { return unit_of_number(number.diagnostic, number.number); }

std::vector<ReportFigure> diagnostic_figures(const RunData& run) {
  std::vector<ReportFigure> figures;
  for (const auto& [diagnostic, panels] : diagnostics_of(run)) {
    figure::Chart chart{.title = fmt::format("What does '{}' see{}?", diagnostic,
                                             run.marks.moments.empty() ? " in each layer and head"
                                                                       : " around the moment, in each layer and head")};
    std::vector<const RunCurve*> seen;
    ArmTones tones;
    for (const PanelLines& lines : panels) {
      if (chart.panels.size() < kMostPanels) chart.panels.push_back(panel_of(lines, run, tones));
      for (const auto& [name, curve] : lines.lines) seen.push_back(curve);
    }
    arrange(chart);
    figures.push_back(
        {.name = "diagnostic-" + diagnostic,
         .title = chart.title,
         .caption = fmt::format("One panel for each number{}. What each number is: eureka list diagnostics {}.{}",
                                " in each layer", diagnostic,
                                panels.size() > kMostPanels
                                    ? fmt::format(" {} of {} panels; the data have all.", kMostPanels, panels.size())
                                    : ""),
         .draw = drawn(chart),
         .csv = columns_csv(seen)});
  }
  return figures;
}

}  // namespace eureka
