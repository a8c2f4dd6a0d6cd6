#include "serve/run_stream.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "io/json.h"
#include "report/metrics_line.h"
#include "serve/index_json.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kMostAtATime = 256 << 10;

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_place(const std::string& text) {
  std::uint64_t metrics = 0, events = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, metrics);
  if (first.ec != std::errc()) return std::nullopt;
  if (first.ptr == end) return std::pair(metrics, std::uint64_t{0});
  if (*first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, events);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair(metrics, events);
}

}  // namespace

RunStream::RunStream(const ServedTree& tree, std::string id, const std::string& place)
    : tree_(tree), id_(std::move(id)) {
  const auto directory = tree_.open(id_);
  if (!directory) return;
  if (const auto known = parse_place(place)) {
    at_.metrics.offset = known->first, at_.events.offset = known->second;
    at_.metrics.inode = directory->stamp("metrics.jsonl").inode;
    at_.events.inode = directory->stamp("events.jsonl").inode;
    return;
  }
  begin_at_end(*directory, "metrics.jsonl", at_.metrics);
  begin_at_end(*directory, "events.jsonl", at_.events);
}

// Behind the last whole line.
void RunStream::begin_at_end(const OpenDirectory& directory, const char* name, Log& log) const {
  const auto file = directory.open(name);
  if (!file) return;
  const FileStamp stamp = file->stamp();
  log.inode = stamp.inode;
  log.offset = stamp.bytes;
  while (log.offset > 0) {
    const std::uint64_t begin = log.offset > kMostAtATime ? log.offset - kMostAtATime : 0;
    const std::size_t line = file->read(begin, static_cast<std::size_t>(log.offset - begin)).rfind('\n');
    log.offset = line == std::string::npos ? begin : begin + line + 1;
    if (line != std::string::npos) return;
  }
}

RunStream::Change RunStream::read_on(const OpenDirectory& directory, const char* name, Log& log,
                                     std::string& lines) const {
  const auto file = directory.open(name);
  const FileStamp stamp = file ? file->stamp() : FileStamp{};
  const bool is_new_file = stamp.exists && log.inode == 0 && log.offset == 0;
  const bool is_another = !is_new_file && stamp.inode != log.inode && (log.inode != 0 || stamp.exists);
  if (is_another || stamp.bytes < log.offset ||
      (stamp.exists && log.offset > 0 && file->read(log.offset - 1, 1) != "\n")) {
    log = {.offset = 0, .inode = stamp.inode};
    return Change::reset;
  }
  log.inode = stamp.inode;
  if (!file || stamp.bytes == log.offset) return Change::none;
  lines = file->read(log.offset, kMostAtATime);
  const std::size_t end = lines.rfind('\n');
  // A line longer than that is no row of ours.
  const std::size_t whole = end != std::string::npos ? end + 1 : lines.size() == kMostAtATime ? lines.size() : 0;
  lines.resize(end == std::string::npos ? 0 : whole);
  log.offset += whole;
  return lines.empty() ? Change::none : Change::lines;
}

std::string RunStream::event(const char* name, const std::string& data) const {
  return fmt::format("id: {}-{}\nevent: {}\ndata: {}\n\n", at_.metrics.offset, at_.events.offset, name, data);
}

std::string RunStream::news() {
  const auto directory = tree_.open(id_);
  if (!directory) return at_.status == "gone" ? "" : (at_.status = "gone", event("status", R"({"status":"gone"})"));
  std::string text, lines;
  const auto take = [&](const char* file, Log& log, auto one) {
    const Change change = read_on(*directory, file, log, lines);
    if (change == Change::reset) {
      begin_at_end(*directory, file, log);
      text += event("reset", "{}");
    }
    if (change != Change::lines) return;
    std::string_view rest = lines;
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
      text += one(rest.substr(0, end));
  };
  take("metrics.jsonl", at_.metrics, [&](std::string_view line) { return row_event(line); });
  take("events.jsonl", at_.events, [&](std::string_view line) { return other_event(line); });
  return text + status_event(*directory);
}

std::string RunStream::row_event(std::string_view line) {
  MetricsLine row;
  try {
    row.parse(line);
  } catch (const Error&) {
    return {};
  }
  if (row.step() <= at_.metrics.last_step) return {};
  at_.metrics.last_step = row.step();
  Json values = Json::object();
  for (const auto& [name, value] : row.numbers()) values[name] = value;
  return event("row", Json{{"step", number_json(row.step())}, {"values", values}}.dump(-1, Json::BadText::replace));
}

std::string RunStream::other_event(std::string_view line) {
  const auto json = Json::parse_if_valid(line);
  return json && json->is_object() ? event("event", json->dump(-1, Json::BadText::replace)) : "";
}

std::string RunStream::status_event(const OpenDirectory& directory) {
  if (!facts_.is_current(directory)) facts_.refresh(directory);
  const std::string before = std::exchange(at_.status, facts_.status);
  if (before == at_.status) return {};
  return event("status", Json{{"status", at_.status},
                              {"step", maybe_json(facts_.metrics.step)},
                              {"steps", facts_.steps ? Json(*facts_.steps) : Json(nullptr)},
                              {"moment", maybe_json(facts_.moment)}}
                             .dump(-1, Json::BadText::replace));
}

}  // namespace eureka::serve
