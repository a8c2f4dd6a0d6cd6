#include "serve/index_json.h"

#include <cmath>

namespace eureka::serve {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

Json run_json(const IndexEntry& entry, const IndexSnapshot& index) {
  const RunFacts& run = *entry.run;
  const auto integer = [](const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); };
  Json options = Json::object();
  for (const auto& [key, value] : run.options)
    if (index.varied.contains(std::string(key))) options[key] = std::string(value);
  std::optional<double> step = run.metrics.step;
  if (run.updates && (!step || static_cast<double>(*run.updates) > *step)) step = static_cast<double>(*run.updates);
  return {{"id", entry.id},
          {"kind", "run"},
          {"study", text_or_null(entry.study)},
          {"arm", text_or_null(entry.arm)},
          {"point", text_or_null(entry.point)},
          {"task", text_or_null(run.task)},
          {"rule", text_or_null(run.rule)},
          {"seed", integer(run.seed)},
          {"engine", text_or_null(run.engine)},
          {"status", run.status},
          {"step", maybe_json(step)},
          {"steps", integer(run.steps)},
          {"stopped_at_moment", run.has_stopped_at_moment()},
          {"metric", text_or_null(run.metrics.column)},
          {"best", maybe_json(run.metrics.best)},
          {"last", maybe_json(run.metrics.last)},
          {"moment", maybe_json(run.moment)},
          {"updated", seconds(entry.changed)},
          {"damaged", run.is_damaged},
          {"options", options}};
}

Json study_json(const IndexEntry& entry) {
  const StudyFacts& study = *entry.of_study;
  const std::size_t ended = std::max(study.ended.value_or(0), entry.trials_ended);
  return {{"id", entry.id},
          {"kind", "study"},
          {"study", text_or_null(entry.study)},
          {"question", text_or_null(study.question)},
          {"status", study_status(entry)},
          {"trials_done", ended},
          {"trials_running", entry.trials_running},
          {"trials", study.planned ? Json(*study.planned) : Json(nullptr)},
          {"arms", study.arms},
          {"baseline", text_or_null(study.baseline)},
          {"updated", seconds(entry.changed)},
          {"damaged", study.is_damaged}};
}

}  // namespace

Json number_json(double value) {
  constexpr double kExact = 9e15;
  if (std::abs(value) < kExact && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

Json maybe_json(const std::optional<double>& value) { return value ? number_json(*value) : Json(nullptr); }

const char* study_status(const IndexEntry& study) {
  const StudyFacts& facts = *study.of_study;
  const std::size_t ended = std::max(facts.ended.value_or(0), study.trials_ended);
  if (facts.ended && facts.planned && ended >= *facts.planned) return "finished";
  return study.trials_running > 0 ? "running" : "incomplete";
}

Json entry_json(const IndexEntry& entry, const IndexSnapshot& index) {
  return entry.run ? run_json(entry, index) : study_json(entry);
}

Json index_json(const IndexSnapshot& index, const ServedTree& tree) {
  Json entries = Json::array();
  for (const IndexEntry& entry : index.entries) entries.push_back(entry_json(entry, index));
  Json missing = Json::array();
  if (index.unfit > 0)
    missing.push_back(std::to_string(index.unfit) +
                      " directories are left out: their names hold other than letters, digits and ._=,+@-");
  if (index.links > 0) missing.push_back(std::to_string(index.links) + " links are left out: none is followed");
  if (index.is_cut) missing.push_back("there are more directories than are looked through: serve one further down");
  return {{"root", tree.name()},
          {"version", EUREKA_VERSION},
          {"stamp", std::to_string(index.stamp)},
          {"time", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()},
          {"missing", missing},
          {"entries", entries}};
}

}  // namespace eureka::serve
