#include "report/study_heatmaps.h"

#include <fmt/format.h>

#include <cmath>

#include "figure/heatmap.h"

namespace eureka {
namespace {

struct HeatmapKind {
  const char* name;
  const char* key;
  const char* format;
  const char* value_label;
  bool low_is_bright;
};

// "0.001" where one option varies, "train.lr=0.001,..." where several do.
std::string column_name(const RecordedPoint& point) {
  return point.settings.size() == 1 ? point.settings[0].second : point.name;
}

std::string column_label(const StudyRecord& record) {
  return record.points[0].settings.size() == 1 ? record.points[0].settings[0].first : "point of the axes";
}

ReportFigure heatmap(const StudyRecord& record, const HeatmapKind& kind, const std::string& title) {
  figure::Heatmap map{.title = title,
                      .row_label = "arm",
                      .column_label = column_label(record),
                      .value_label = kind.value_label,
                      .rows = record.arm_names};
  map.low_is_bright = kind.low_is_bright;
  std::string csv = fmt::format("arm,point,{}\n", kind.key);
  for (const RecordedPoint& point : record.points) map.columns.push_back(column_name(point));
  for (const std::string& arm : record.arm_names) {
    std::vector<figure::HeatCell> row;
    for (std::size_t point = 0; point < record.points.size(); ++point) {
      const RecordedArm* found = record.find(arm, point);
      const std::optional<double> value = found != nullptr ? found->number(kind.key) : std::nullopt;
      row.push_back({value.value_or(std::nan("")), value ? fmt::format(fmt::runtime(kind.format), *value) : "-"});
      csv += fmt::format("{},{},{}\n", csv_cell(arm), csv_cell(record.points[point].name),
                         value ? csv_number(*value) : "");
    }
    map.cells.push_back(std::move(row));
  }
  return {.name = kind.name,
          .title = title,
          .caption = "One row for each arm, one column for each point of the study's axes; brighter is better.",
          .draw = drawn(map),
          .csv = std::move(csv)};
}

}  // namespace

std::vector<ReportFigure> study_heatmaps(const StudyRecord& record) {
  const char* event = record.awaits_target ? "the target" : "the moment";
  return {heatmap(record, {"heatmap", "rmst", "{:.0f}", "steps, a run without the event counting as the budget", true},
                  fmt::format("How long is the wait for {}, arm by arm and setting by setting?", event)),
          heatmap(record, {"heatmap-rate", "rate", "{:.2f}", "share of the runs", false},
                  fmt::format("What share of the runs gets to {}, arm by arm and setting by setting?", event))};
}

}  // namespace eureka
