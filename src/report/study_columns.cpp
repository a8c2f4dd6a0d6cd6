#include "report/study_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lab/study_statistics.h"
#include "report/table.h"

namespace eureka {
namespace {

struct StudyColumn {
  const char* key;
  int importance = 0;  // the least important goes first where there is no room; kAlways never goes
  bool with_interval = false;
};
constexpr int kAlways = 100;

std::vector<StudyColumn> columns_for(AwaitedEvent event) {
  if (event == AwaitedEvent::target)
    return {{"reached_target", kAlways}, {"moments", 4},       {"groks", kAlways},         {"rate", 1, true},
            {"median", kAlways, true},   {"rmst", 2},          {"speedup", kAlways, true}, {"hazard_ratio", 3},
            {"logrank_p", kAlways},      {"final_accuracy", 5}};
  return {{"moments", kAlways},
          {"groks", kAlways},
          {"rate", 1, true},
          {"median", kAlways, true},
          {"rmst", 2},
          {"speedup", kAlways, true},
          {"hazard_ratio", 4},
          {"logrank_p", kAlways},
          {"steps_to_target_median", 3},
          {"final_accuracy", 5}};
}

// How far a table is squeezed; each step takes the ones before with it.
enum class Squeeze { none, gaps, names, median_interval, speedup_interval, short_names };
constexpr std::array kSqueezes = {Squeeze::gaps, Squeeze::names, Squeeze::median_interval, Squeeze::speedup_interval,
                                  Squeeze::short_names};

TableStyle style_of(Squeeze squeeze) {
  TableStyle style;
  if (squeeze >= Squeeze::gaps) style.gap = 2;
  if (squeeze >= Squeeze::names) style.most_of_first = 16;
  if (squeeze >= Squeeze::short_names) style.most_of_first = 8;
  return style;
}

std::string shown(const std::optional<double>& number, const std::string& format, const char* otherwise) {
  return number ? fmt::format(fmt::runtime(format), *number) : otherwise;
}

std::string cell_of(const StudyColumn& column, const ArmAtPoint& arm) {
  const ArmStatistic& statistic = arm_statistic(column.key);
  std::string cell;
  if (statistic.text) {
    cell = statistic.text(arm);
  } else {
    const StatisticValue value = statistic.value(arm);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* count = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *count);
    const double* number = std::get_if<double>(&value);
    cell = shown(number != nullptr ? std::optional(*number) : std::nullopt, statistic.format, "-");
  }
  if (!column.with_interval || !statistic.interval) return cell;
  const OpenInterval ends = statistic.interval(arm).value_or(OpenInterval{});
  if (!ends.low && !ends.high) return cell;
  return fmt::format("{} [{}, {}]", cell, shown(ends.low, statistic.format, "sooner"),
                     shown(ends.high, statistic.format, "later"));
}

class FittedTable {
 public:
  FittedTable(const StudyReport& report, const PointReport& point, const StudyTextOptions& options)
      : report_(report), point_(point), options_(options), columns_(columns_for(report.study.event)) {
    const bool any_groks = std::any_of(point.arms.begin(), point.arms.end(),
                                       [](const ArmResult& arm) { return arm.statistics.summary.groks > 0; });
    if (!any_groks) std::erase_if(columns_, [](const StudyColumn& column) { return is(column, "groks"); });
    while (!fits() && drop_the_least_important()) {
    }
    for (const Squeeze next : kSqueezes)
      if (!fits()) squeeze_to(next);
  }

  std::string text() const {
    TableStyle style = style_of(squeeze_);
    style.bold_header = options_.color;
    std::string text;
    const std::string all = table().str(style);
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = all.find('\n', begin);
      text += clipped(std::string_view(all).substr(begin, end - begin), options_.width) + "\n";
      begin = end + 1;
    }
    return text + wrapped(key(), std::clamp(options_.width, 20, 110), " ", " ");
  }

 private:
  static bool is(const StudyColumn& column, std::string_view key) { return column.key == key; }
  bool has(std::string_view key) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const StudyColumn& column) { return is(column, key); });
  }

  bool fits() const { return table().width(style_of(squeeze_)) <= options_.width; }

  bool drop_the_least_important() {
    const auto least = std::min_element(columns_.begin(), columns_.end(),
                                        [](const auto& a, const auto& b) { return a.importance < b.importance; });
    if (least->importance == kAlways) return false;
    columns_.erase(least);
    return true;
  }

  void squeeze_to(Squeeze squeeze) {
    squeeze_ = squeeze;
    for (StudyColumn& column : columns_)
      if ((squeeze >= Squeeze::median_interval && is(column, "median")) ||
          (squeeze >= Squeeze::speedup_interval && is(column, "speedup")))
        column.with_interval = false;
  }

  std::string title_of(const StudyColumn& column) const {
    const ArmStatistic& statistic = arm_statistic(column.key);
    if (squeeze_ != Squeeze::none && is(column, "logrank_p")) return "p";
    const std::string& title = statistic.title.empty() ? statistic.key : statistic.title;
    return column.with_interval ? title + " [95%]" : title;
  }

  std::string cell(const StudyColumn& column, const ArmResult& arm) const {
    const bool is_baseline = !arm.statistics.against_baseline.has_value();
    if (squeeze_ != Squeeze::none && is_baseline && is(column, "logrank_p")) return "";
    return cell_of(column, {point_, arm});
  }

  TextTable table() const {
    std::vector<TableColumn> heads = {{"arm", Align::left}};
    for (const StudyColumn& column : columns_) heads.push_back({title_of(column), Align::right});
    TextTable table(heads);
    for (const ArmResult& arm : point_.arms) {
      std::vector<std::string> cells = {arm.statistics.name};
      for (const StudyColumn& column : columns_) cells.push_back(cell(column, arm));
      table.add_row(std::move(cells));
    }
    return table;
  }

  bool any_cell(std::string_view key, std::string_view part) const {
    for (const StudyColumn& column : columns_)
      for (const ArmResult& arm : point_.arms)
        if (is(column, key) && cell(column, arm).find(part) != std::string::npos) return true;
    return false;
  }

  // "accuracy 0.931, 95% of the baseline's".
  std::string target_words() const {
    const Study& study = report_.study;
    const std::string level = fmt::format("{} {:.3f}", point_.metric.name, *point_.target_accuracy);
    if (point_.target_arm.empty()) return level;
    const bool is_baselines = point_.target_arm == study.arms[study.baseline].name;
    return fmt::format(
        "{}, {:g}% of {}", level, 100 * study.relative_target,
        is_baselines ? "the baseline's" : fmt::format("{}'s (the baseline stays on the plateau)", point_.target_arm));
  }

  // With train.until = "moment": the budget was not used up, though nothing went wrong.
  bool some_stopped_early() const {
    const auto index = static_cast<std::size_t>(&point_ - report_.points.data());
    return std::any_of(report_.trials.begin(), report_.trials.end(), [&](const TrialRow& trial) {
      return trial.point == index && trial.moment && trial.status == RunStatus::finished &&
             static_cast<double>(trial.steps) - trial.origin < point_.horizon;
    });
  }

  std::string key() const {
    const bool by_target = report_.study.event == AwaitedEvent::target;
    const std::string censored = fmt::format("a run {} counts as {:.0f}",
                                             by_target ? "short of the target" : "without a moment", point_.horizon);
    std::string text = fmt::format(
        "steps{} up to {:.0f}; {}", report_.study.branch ? fmt::format(" after step {}", report_.study.branch->at) : "",
        point_.horizon, has("rmst") ? "mean to budget: " + censored : "speed-up: ratio of mean steps, " + censored);
    if (any_cell("median", ", later]")) text += "; later: after all that was observed";
    if (any_cell("hazard_ratio", ">") || any_cell("hazard_ratio", "<"))
      text += "; hazard with > or <: no estimate, but that end of its interval";
    if (squeeze_ != Squeeze::none) text += "; p: log-rank test, corrected over the arms";
    if (point_.target_accuracy && by_target)
      text += "; target: " + target_words();
    else if (point_.target_accuracy && has("steps_to_target_median"))
      text += "; to target: median steps to " + target_words();
    else if (by_target)
      text += "; no target: no arm leaves the plateau";
    if (has("final_accuracy") && some_stopped_early())
      text += "; final acc: of runs that were stopped after their moment, what they had by then";
    return text;
  }

  const StudyReport& report_;
  const PointReport& point_;
  const StudyTextOptions& options_;
  std::vector<StudyColumn> columns_;
  Squeeze squeeze_ = Squeeze::none;
};

}  // namespace

std::string statistics_table(const StudyReport& report, const PointReport& point, const StudyTextOptions& options) {
  return FittedTable(report, point, options).text();
}

}  // namespace eureka
