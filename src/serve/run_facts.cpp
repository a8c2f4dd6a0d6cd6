#include "serve/run_facts.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

#include "base/error.h"
#include "io/toml.h"
#include "report/metrics_line.h"
#include "train/records/run_event.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"
#include "train/watched_run.h"

namespace eureka::serve {
namespace {

constexpr std::uint64_t kMostRecordBytes = 16 << 20;
constexpr std::uint64_t kReadWhole = 8 << 20, kTailBytes = 256 << 10, kPieceBytes = 1 << 20;

template <class T>
std::optional<T> value_of(const ConfigEntries& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return std::nullopt;
  const T* value = std::get_if<T>(&found->second.value);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::string shown(const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : to_toml(value);
}

std::string_view kept(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return *texts.insert(text).first;
}

// The last moment that was confirmed and not withdrawn, of a run that goes on.
std::optional<MomentConfirmed> moment_in(std::string_view events) {
  std::vector<MomentConfirmed> moments;
  for (std::size_t end; (end = events.find('\n')) != std::string_view::npos; events.remove_prefix(end + 1)) {
    const std::string_view line = events.substr(0, end);
    if (line.find("moment") == std::string_view::npos) continue;
    try {
      const RunEvent event = parse_event(line, "");
      if (const auto* moment = std::get_if<MomentConfirmed>(&event.what)) moments.push_back(*moment);
      if (std::holds_alternative<MomentWithdrawn>(event.what) && !moments.empty()) moments.pop_back();
    } catch (const Error&) {
      continue;
    }
  }
  return moments.empty() ? std::nullopt : std::optional(moments.back());
}

}  // namespace

bool is_better_higher(std::string_view column) {
  return column.find("loss") == std::string_view::npos && column.find("bits") == std::string_view::npos;
}

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void MetricsFacts::take(std::string_view line) {
  MetricsLine row;
  try {
    row.parse(line);
  } catch (const Error&) {
    return;
  }
  if (step && row.step() <= *step) return;
  for (const auto& [name, value] : row.numbers())
    if (judges_rather(name, column)) column = name, best.reset();
  step = row.step();
  const std::optional<double> value = row.find(column);
  if (!value) return;
  last = value;
  const bool is_better = !best || (is_better_higher(column) ? *value > *best : *value < *best);
  if (is_best_known && std::isfinite(*value) && is_better) best = value;
}

void MetricsFacts::read_on(const OpenFile& file) {
  const FileStamp stamp = file.stamp();
  if (stamp.inode != inode || stamp.bytes < offset) *this = {}, inode = stamp.inode;
  if (offset == 0 && stamp.bytes > kReadWhole) {
    const std::string head = file.read(0, kTailBytes);
    take(std::string_view(head).substr(0, head.find('\n')));
    is_best_known = false, best.reset();
    offset = stamp.bytes - kTailBytes;
    const std::size_t line = file.read(offset, kTailBytes).find('\n');
    offset = line == std::string::npos ? stamp.bytes : offset + line + 1;
  }
  for (;;) {
    const std::string piece = file.read(offset, kPieceBytes);
    std::string_view rest = piece;
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
      take(rest.substr(0, end));
    offset += piece.size() - rest.size();
    // A torn line, or one as long as a piece: it waits for its end.
    if (piece.size() < kPieceBytes || rest.size() == piece.size()) return;
  }
}

RunFacts::Stamps RunFacts::stamps_of(const OpenDirectory& directory) {
  return {directory.stamp("config.toml"), directory.stamp("meta.json"), directory.stamp("summary.json"),
          directory.stamp("events.jsonl"), directory.stamp("metrics.jsonl")};
}

bool RunFacts::is_current(const OpenDirectory& directory) const { return is_read_ && stamps_of(directory) == stamps_; }

void RunFacts::refresh(const OpenDirectory& directory) {
  const Stamps before = std::exchange(stamps_, stamps_of(directory));
  if (!is_read_ || stamps_.config != before.config) read_config(directory);
  if (!is_read_ || stamps_.meta != before.meta || stamps_.summary != before.summary || stamps_.events != before.events)
    read_records(directory);
  if (stamps_.metrics != before.metrics) read_metrics_on(directory);
  is_read_ = true;
  version = next_version();
  changed = std::max({stamps_.config.changed, stamps_.meta.changed, stamps_.summary.changed, stamps_.events.changed,
                      stamps_.metrics.changed});
  is_damaged = is_config_damaged_ || is_record_damaged_;
}

bool RunFacts::has_stopped_at_moment() const {
  return ends_at_moment_ && has_ended() && moment && updates && steps && *updates < *steps &&
         status == status_name(RunStatus::finished);
}

void RunFacts::read_metrics_on(const OpenDirectory& directory) {
  try {
    if (const auto file = directory.open("metrics.jsonl"))
      metrics.read_on(*file);
    else
      metrics = {};
  } catch (const std::exception&) {
    is_record_damaged_ = true;
  }
}

void RunFacts::read_config(const OpenDirectory& directory) {
  options.clear();
  is_config_damaged_ = true;
  try {
    const auto text = directory.read("config.toml", kMostRecordBytes);
    if (!text) return;
    const ConfigEntries config = read_toml(*text, "config.toml");
    task = value_of<std::string>(config, "task.name").value_or("");
    rule = value_of<std::string>(config, "attention.rule").value_or("");
    if (config.contains(kWatchedProgram)) {
      task = "watched";
      rule = value_of<std::string>(config, "watch.attention").value_or("");
    }
    seed = value_of<std::int64_t>(config, "run.seed");
    steps = value_of<std::int64_t>(config, "train.steps");
    ends_at_moment_ = value_of<std::string>(config, "train.until") == "moment";
    if (const auto size = value_of<std::int64_t>(config, "train.batch")) batch = static_cast<double>(*size);
    for (const auto& [key, entry] : config) options.emplace_back(kept(key), kept(shown(entry.value)));
    is_config_damaged_ = false;
  } catch (const std::exception&) {
    // Told in full by the page of the run.
  }
}

void RunFacts::read_records(const OpenDirectory& directory) {
  is_record_damaged_ = false;
  status = "unknown";
  updates.reset(), moment.reset(), rise_from.reset(), rise_to.reset();
  const auto read = [&](const char* file, auto use) {
    try {
      if (const auto text = directory.read(file, kMostRecordBytes)) use(*text);
    } catch (const std::exception&) {
      is_record_damaged_ = true;
    }
  };
  read("events.jsonl", [&](const std::string& text) {
    if (const auto found = moment_in(text)) moment = found->at, rise_from = found->from, rise_to = found->to;
  });
  read("meta.json", [&](const std::string& text) {
    const RunMeta meta = parse_meta(text, "meta.json");
    engine = meta.engine, status = status_name(meta.status);
    updates = meta.updates_done;
    if (!seed) seed = meta.seed;
  });
  read("summary.json", [&](const std::string& text) {
    const RunSummary summary = parse_summary(text, "summary.json");
    status = status_name(summary.status);
    updates = summary.steps;
    moment.reset(), rise_from.reset(), rise_to.reset();
    if (const auto& found = summary.moment)
      moment = found->step, rise_from = found->rise_start, rise_to = found->rise_end;
    if (task.empty()) task = summary.task;
    if (rule.empty()) rule = summary.attention;
    if (!seed) seed = summary.seed;
  });
}

}  // namespace eureka::serve
