// /api/group and /api/study.
#include <fmt/format.h>

#include <algorithm>

#include "lab/study_record.h"
#include "report/run_group.h"
#include "serve/api.h"
#include "serve/index_json.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kPointsOfOne = 160;  // of many runs, as in a report
constexpr std::uint64_t kMostResultBytes = 256 << 20;

const StudyFacts& study_of(const IndexEntry& entry) {
  if (!entry.of_study) throw Refusal(404, "this is a run, not a study", "/api/run tells of it");
  return *entry.of_study;
}

// One run as a curve of that column.
struct Member {
  const IndexEntry* entry = nullptr;
  RunData data;
};

Json curve_json(const GroupCurve& curve, Json group) {
  Json x = Json::array(), median = Json::array(), low = Json::array(), high = Json::array();
  for (const figure::Point& point : curve.median) {
    x.push_back(number_json(point.x));
    median.push_back(point.y);
  }
  for (const figure::BandPoint& point : curve.quartiles) {
    low.push_back(point.low);
    high.push_back(point.high);
  }
  group["x"] = x, group["median"] = median;
  group["low"] = curve.quartiles.empty() ? Json(nullptr) : low;
  group["high"] = curve.quartiles.empty() ? Json(nullptr) : high;
  return group;
}

// In the order of the study; those it does not know behind.
std::vector<std::string> arms_of(const StudyFacts& study, const std::vector<Member>& members) {
  std::vector<std::string> arms = study.arms;
  for (const Member& member : members)
    if (std::find(arms.begin(), arms.end(), member.entry->arm) == arms.end()) arms.push_back(member.entry->arm);
  return arms;
}

Json arm_json(const std::string& name, const StudyFacts& study, const std::vector<Member>& members, GroupBy by) {
  RunGroup group{name, {}};
  Json runs = Json::array();
  for (const Member& member : members) {
    if (member.entry->arm != name) continue;
    group.runs.push_back(&member.data);
    const auto& seed = member.entry->run->seed;
    runs.push_back({{"id", member.entry->id},
                    {"seed", seed ? Json(*seed) : Json(nullptr)},
                    {"moment", maybe_json(member.entry->run->moment)}});
  }
  Json arm = {{"name", name}, {"baseline", name == study.baseline}};
  arm = curve_json(group_curve(group, by), std::move(arm));
  arm["runs"] = runs;
  return arm;
}

// In the order of the study; those it does not know behind.
std::vector<std::string> points_of(const IndexSnapshot& index, const IndexEntry& study) {
  std::vector<std::string> points = study.of_study->points;
  for (const IndexEntry& entry : index.entries)
    if (entry.run && entry.study == study.id && std::find(points.begin(), points.end(), entry.point) == points.end())
      points.push_back(entry.point);
  return points;
}

}  // namespace

Answer Api::group_answer(const Asked& asked, const RequestTarget& target) {
  const StudyFacts& study = study_of(*asked.entry);
  const std::string id = asked.entry->id;
  const std::vector<std::string> points = points_of(*asked.index, *asked.entry);
  const std::string point = target.find("point").value_or(points.empty() ? "" : points.front());
  std::string column = target.find("column").value_or("");
  const std::string aligned = target.find("by").value_or("step");
  if (aligned != "step" && aligned != "moment") throw Refusal(400, "'by' is neither step nor moment", "by=step");
  const GroupBy by = aligned == "step" ? GroupBy::step : GroupBy::own_moment;
  std::vector<Member> members;
  for (const IndexEntry& entry : asked.index->entries) {
    if (!entry.run || entry.study != id || entry.point != point) continue;
    if (column.empty()) column = entry.run->metrics.column;
    Member& member = members.emplace_back();
    member.entry = &entry;
    const Series series = series_of(entry, {.columns = {column}, .points = kPointsOfOne});
    RunCurve curve{column, {}};
    for (std::size_t i = 0; i < series.steps.size(); ++i)
      curve.points.push_back({series.steps[i], series.columns[0][i]});
    member.data.metric = column;
    member.data.curves.push_back(std::move(curve));
    if (entry.run->moment) member.data.marks.moments.push_back({*entry.run->moment});
  }
  Json arms = Json::array();
  for (const std::string& name : arms_of(study, members)) arms.push_back(arm_json(name, study, members, by));
  return json_answer(
      {{"id", id}, {"column", column}, {"by", aligned}, {"point", point}, {"points", points}, {"arms", arms}});
}

Answer Api::study_answer(const Asked& asked) {
  study_of(*asked.entry);
  const auto directory = tree_.open(asked.entry->id);
  if (!directory) throw Refusal(404, "it is gone");
  Json answer = {{"entry", entry_json(*asked.entry, *asked.index)}};
  Json missing = Json::array();
  Json found = nullptr;
  const auto text =
      asked.entry->of_study->is_told_in_full ? directory->read("study.json", kMostResultBytes) : std::nullopt;
  if (text) {
    found = Json::parse_if_valid(*text).value_or(nullptr);
  } else {
    try {
      const StudyRecord record = read_study_record(readable_path(asked), catalog_);
      found = record.whole;
      if (!record.note.empty()) missing.push_back(record.note);
    } catch (const Error& error) {
      missing.push_back(fmt::format("the statistics cannot be told: {}", error.what()));
    } catch (const Refusal& refusal) {
      missing.push_back(fmt::format("the statistics cannot be told: {}", refusal.what()));
    }
  }
  answer["study"] = found;
  answer["missing"] = missing;
  Json entries = Json::array();
  for (const IndexEntry& entry : asked.index->entries)
    if (entry.run && entry.study == asked.entry->id) entries.push_back(entry_json(entry, *asked.index));
  answer["entries"] = entries;
  return json_answer(answer);
}

}  // namespace eureka::serve
