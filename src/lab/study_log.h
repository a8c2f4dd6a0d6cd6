// A study's events as lines of JSON: events.jsonl in its directory, or any other place for lines.
//
//   StudyLog log(out);
//   JsonLines lines(out, [](const std::string& line) { tell("{}\n", line); });
//
// {"time": "2031-05-01T12:00:00Z", "event": "trial-ended", "trial": "softmax/seed-1", "status": "finished", ...}
// Times of day are here and nowhere else in a study's directory; docs/studies.md lists the events.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "lab/study_events.h"

namespace eureka {

class JsonLines : public StudyObserver {
 public:
  // `out`: trials are named by their place below it.
  JsonLines(fs::path out, std::function<void(const std::string&)> write)
      : out_(std::move(out)), write_(std::move(write)) {}

  void on_event(const StudyEvent& event) override;

 private:
  fs::path out_;
  std::function<void(const std::string&)> write_;
  std::optional<std::chrono::steady_clock::time_point> last_progress_;
};

// Appends to events.jsonl below `out`, after what an earlier process wrote. A line torn by a crash is taken away first.
// A full disk ends the log, not the study.
class StudyLog final : public StudyObserver {
 public:
  explicit StudyLog(const fs::path& out);
  StudyLog(const StudyLog&) = delete;
  StudyLog& operator=(const StudyLog&) = delete;

  void on_event(const StudyEvent& event) override { lines_.on_event(event); }

 private:
  void append(const std::string& line);

  AppendFile file_;
  bool is_full_ = false;
  JsonLines lines_;
};

}  // namespace eureka
