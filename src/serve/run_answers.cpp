// /api/run and /api/series.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "report/run_data.h"
#include "report/run_figures.h"
#include "serve/api.h"
#include "serve/index_json.h"
#include "serve/row_times.h"

namespace eureka::serve {
namespace {

constexpr std::uint64_t kMostRecordBytes = 16 << 20;
constexpr std::size_t kMostEvents = 20'000, kMostColumnsAsked = 256, kMostPoints = 20'000;

Json column_json(const std::string& name) {
  Json column = {{"name", name}};
  const std::optional<NumberName> parts = parse_number_name(name);
  column["diagnostic"] = parts.has_value();
  if (!parts) {
    if (name.starts_with("val_") || name.starts_with("train_"))
      column["direction"] = is_better_higher(name) ? "higher" : "lower";
    return column;
  }
  const auto number = [](const std::string& text, std::size_t begin) {
    return maybe_json(parse_finite(text.substr(begin)));
  };
  column["of"] = parts->diagnostic, column["number"] = parts->number;
  if (const std::string unit = unit_of(*parts); !unit.empty()) column["unit"] = unit;
  if (!parts->part.empty()) column["part"] = parts->part;
  if (!parts->layer.empty()) column["layer"] = number(parts->layer, 5);
  if (!parts->head.empty()) column["head"] = number(parts->head, 4);
  return column;
}

Json event_lines(const OpenDirectory& directory) {
  Json events = Json::array();
  const std::string text = directory.read("events.jsonl", kMostRecordBytes).value_or("");
  std::string_view rest = text;
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const auto event = Json::parse_if_valid(rest.substr(0, end));
    if (event && event->is_object() && events.size() < kMostEvents) events.push_back(*event);
  }
  return events;
}

Json record(const OpenDirectory& directory, const char* file) {
  const auto text = directory.read(file, kMostRecordBytes);
  return text ? Json::parse_if_valid(*text).value_or(nullptr) : Json(nullptr);
}

Json config_json(const RunData& run) {
  Json config = Json::object();
  for (const auto& [key, entry] : run.config) {
    const auto* text = std::get_if<std::string>(&entry.value);
    config[key] = text != nullptr ? *text : to_toml(entry.value);
  }
  return config;
}

Json plateaus_json(const RunData& run) {
  Json plateaus = Json::array();
  for (const PlotPlateau& plateau : run.marks.plateaus)
    plateaus.push_back({{"begin", number_json(plateau.start)},
                        {"end", number_json(plateau.end)},
                        {"level", number_json(plateau.level)}});
  return plateaus;
}

Json moments_json(const RunData& run, const RunFacts& facts) {
  Json moments = Json::array();
  for (const PlotMoment& moment : run.marks.moments) {
    Json one = {{"step", number_json(moment.step)}};
    const bool is_known = facts.moment == moment.step && facts.rise_from && facts.rise_to;
    one["from"] = is_known ? number_json(*facts.rise_from) : Json(nullptr);
    one["to"] = is_known ? number_json(*facts.rise_to) : Json(nullptr);
    one["width"] = is_known ? number_json(*facts.rise_to - *facts.rise_from) : Json(nullptr);
    moments.push_back(std::move(one));
  }
  return moments;
}

// A run that was written to a moment ago has no summary yet, which is nothing to warn of.
std::vector<std::string> missing_of(const RunData& run, const RunFacts& facts) {
  constexpr auto kQuiet = std::chrono::minutes(5);
  std::vector<std::string> missing = run.problems;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (facts.status == "running" && now - std::chrono::nanoseconds(facts.changed) < kQuiet)
    std::erase_if(missing, [](const std::string& problem) { return problem.starts_with("summary.json is missing"); });
  return missing;
}

std::size_t points_asked(const RequestTarget& target, std::size_t otherwise) {
  const auto text = target.find("points");
  if (!text) return otherwise;
  const auto value = parse_finite(*text);
  if (!value || *value < 1) throw Refusal(400, "'points' is no number of points", "points=1000");
  return static_cast<std::size_t>(std::min(*value, static_cast<double>(kMostPoints)));
}

double step_asked(const RequestTarget& target, const char* name, double otherwise) {
  const auto text = target.find(name);
  if (!text || text->empty()) return otherwise;
  const auto value = parse_finite(*text);
  if (!value) throw Refusal(400, fmt::format("'{}' is no step", name), "from=100&to=200");
  return *value;
}

}  // namespace

Answer Api::run_answer(const Asked& asked) {
  if (!asked.entry->run) throw Refusal(404, "this is a study, not a run", "/api/study tells of it");
  const auto directory = tree_.open(asked.entry->id);
  if (!directory) throw Refusal(404, "it is gone");
  const FileStamp metrics = directory->stamp("metrics.jsonl");
  const RunData run = read_run(readable_path(asked),
                               {.only_metric = true, .with_curves = metrics.bytes <= kReadDirectly, .most_points = 8});
  Json columns = Json::array();
  for (const std::string& name : columns_of(*asked.entry)) columns.push_back(column_json(name));
  const Json summary = record(*directory, "summary.json");
  const auto plateau = run.summary ? run.summary->task_plateau : std::nullopt;
  return json_answer({{"entry", entry_json(*asked.entry, *asked.index)},
                      {"columns", columns},
                      {"config", config_json(run)},
                      {"events", event_lines(*directory)},
                      {"summary", summary},
                      {"plateau_level", maybe_json(plateau)},
                      {"plateaus", plateaus_json(run)},
                      {"moments", moments_json(run, *asked.entry->run)},
                      {"missing", missing_of(run, *asked.entry->run)},
                      {"meta", record(*directory, "meta.json")}});
}

Answer Api::series_answer(const Asked& asked, const RequestTarget& target) {
  if (!asked.entry->run) throw Refusal(404, "this is a study, not a run", "/api/group has its curves");
  SeriesQuery query{.columns = target.all("column"), .points = points_asked(target, 1000)};
  query.from = step_asked(target, "from", query.from), query.to = step_asked(target, "to", query.to);
  if (query.columns.empty()) query.columns.push_back(asked.entry->run->metrics.column);
  if (query.columns.size() > kMostColumnsAsked)
    throw Refusal(400, fmt::format("more than {} columns at once", kMostColumnsAsked), "ask for some at a time");
  const Series series = series_of(*asked.entry, query);
  Json steps = Json::array(), columns = Json::object();
  for (const double step : series.steps) steps.push_back(number_json(step));
  for (std::size_t i = 0; i < query.columns.size(); ++i) columns[query.columns[i]] = series.columns[i];
  const auto directory = tree_.open(asked.entry->id);
  const auto seconds = directory ? row_times(*directory, series.steps) : std::nullopt;
  return json_answer({{"id", asked.entry->id},
                      {"x", steps},
                      {"samples_per_step", maybe_json(asked.entry->run->batch)},
                      {"seconds", seconds ? Json(*seconds) : Json(nullptr)},
                      {"offset", series.offset},
                      {"columns", columns}});
}

}  // namespace eureka::serve
