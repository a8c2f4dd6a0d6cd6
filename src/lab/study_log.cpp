#include "lab/study_log.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process_facts.h"
#include "io/json.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

constexpr auto kProgressEvery = 10s;

// What an event says besides its time.
class EventJson {
 public:
  explicit EventJson(const fs::path& out) : out_(out) {}

  Json operator()(const TrialsPlanned& event) const {
    return {
        {"event", "planned"}, {"phase", event.phase}, {"trials", event.trials.size()}, {"at_a_time", event.at_a_time}};
  }
  Json operator()(const StudyEstimated& event) const {
    return {{"event", "estimated"},
            {"seconds", {event.cost.least_seconds, event.cost.most_seconds}},
            {"bytes", event.cost.bytes}};
  }
  Json operator()(const TrialStarted& event) const {
    return {{"event", "trial-started"}, {"trial", place(event.trial)}, {"attempt", event.attempt}};
  }
  Json operator()(const TrialsProgress& event) const {
    Json running = Json::array();
    for (const TrialState& state : event.running)
      running.push_back({{"trial", place(*state.trial)}, {"steps", state.steps}, {"seconds", state.seconds}});
    return {{"event", "progress"}, {"running", running}};
  }
  Json operator()(const TrialEnded& event) const {
    return {{"event", "trial-ended"},
            {"trial", place(event.trial)},
            {"status", status_name(event.row.status)},
            {"steps", event.row.steps},
            {"moment", event.row.moment ? Json(*event.row.moment) : Json(nullptr)},
            {"seconds", event.seconds}};
  }
  Json operator()(const TrialRetried& event) const { return complaint("trial-retried", event.trial, event.reason); }
  Json operator()(const TrialFailed& event) const { return complaint("trial-failed", event.trial, event.reason); }
  Json operator()(const TrialDamaged& event) const { return complaint("trial-damaged", event.trial, event.reason); }
  Json operator()(const TrialsDone& event) const {
    return {{"event", "done"}, {"phase", event.phase}, {"failed", event.failed}};
  }
  Json operator()(const StudyFinished& event) const {
    return {{"event", "study-finished"}, {"end", enum_names(event.end)[static_cast<std::size_t>(event.end)]}};
  }

 private:
  std::string place(const Trial& trial) const { return trial.directory.lexically_relative(out_).generic_string(); }
  Json complaint(const char* event, const Trial& trial, const std::string& reason) const {
    return {{"event", event}, {"trial", place(trial)}, {"reason", reason}};
  }

  const fs::path& out_;
};

// Cut back to its last whole line.
void drop_torn_line(const fs::path& path, AppendFile& file) {
  const std::string text = read_file(path);
  const std::size_t end = text.rfind('\n');
  file.truncate(end == std::string::npos ? 0 : end + 1);
}

}  // namespace

void JsonLines::on_event(const StudyEvent& event) {
  if (std::holds_alternative<TrialsProgress>(event)) {
    const auto now = std::chrono::steady_clock::now();
    if (last_progress_ && now - *last_progress_ < kProgressEvery) return;
    last_progress_ = now;
  }
  Json line = {{"time", utc_now()}};
  line.update(std::visit(EventJson(out_), event));
  write_(line.dump(-1, Json::BadText::replace));
}

StudyLog::StudyLog(const fs::path& out)
    : file_(out / "events.jsonl"), lines_(out, [this](const std::string& line) { append(line); }) {
  drop_torn_line(out / "events.jsonl", file_);
}

void StudyLog::append(const std::string& line) {
  if (is_full_) return;
  try {
    file_.append_line(line);
  } catch (const Error&) {
    is_full_ = true;
  }
}

}  // namespace eureka
