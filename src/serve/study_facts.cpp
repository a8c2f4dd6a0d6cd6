#include "serve/study_facts.h"

#include <algorithm>

#include "base/error.h"
#include "io/json.h"
#include "lab/study.h"
#include "lab/study_record.h"
#include "serve/run_facts.h"

namespace eureka::serve {
namespace {

constexpr std::uint64_t kMostPlanBytes = 16 << 20, kMostResultBytes = 256 << 20;

}  // namespace

bool StudyFacts::is_current(const OpenDirectory& directory) const {
  return is_read_ && directory.stamp("study.toml") == plan_ && directory.stamp("study.json") == result_;
}

void StudyFacts::refresh(const OpenDirectory& directory) {
  *this = {};
  version = next_version();
  plan_ = directory.stamp("study.toml"), result_ = directory.stamp("study.json"), is_read_ = true;
  changed = std::max(plan_.changed, result_.changed);
  const auto read = [&](const char* file, std::uint64_t most, auto use) {
    try {
      if (const auto text = directory.read(file, most)) use(*text);
    } catch (const std::exception&) {
      is_damaged = true;
    }
  };
  read("study.json", kMostResultBytes, [&](const std::string& text) { read_result(text); });
  // It has grown when the plan says more than the result.
  read("study.toml", kMostPlanBytes, [&](const std::string& text) { read_plan(text); });
}

void StudyFacts::read_result(const std::string& text) {
  const StudyRecord record = parse_study_record(text, "study.json");
  question = record.question, baseline = record.baseline;
  arms = record.arm_names;
  for (const RecordedPoint& point : record.points) points.push_back(point.name);
  for (const RecordedTrial& trial : record.trials)
    places[trial.directory.lexically_normal().generic_string()] = {trial.arm, record.points[trial.point].name};
  planned = record.planned, ended = record.trials.size() + record.damaged.size();
}

void StudyFacts::read_plan(const std::string& text) {
  const Study study = read_study({text, "study.toml", "study"});
  question = study.question;
  arms.clear(), points.clear();
  for (const StudyArm& arm : study.arms) arms.push_back(arm.name);
  for (const StudyPoint& point : study.points) points.push_back(point.name);
  if (!study.arms.empty()) baseline = arms[study.baseline];
  const std::optional<std::size_t> in_result = planned;
  if (!study.branch) planned = study.arms.size() * study.points.size() * study.seeds.size();
  is_told_in_full = ended && in_result == planned;
}

}  // namespace eureka::serve
