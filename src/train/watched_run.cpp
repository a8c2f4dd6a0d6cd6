#include "train/watched_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/process_facts.h"
#include "train/detection.h"
#include "train/records/number_name.h"
#include "train/records/run_event.h"

namespace eureka {
namespace {

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// "val_accuracy" is judged as accuracy; what is no validation keeps its name.
std::string metric_key(const std::string& column) { return column.starts_with("val_") ? column.substr(4) : column; }

std::optional<double> if_finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

}  // namespace

std::optional<ConfigEntries> read_watched(const fs::path& run_directory) {
  const fs::path path = run_directory / "config.toml";
  if (!fs::exists(path)) return std::nullopt;
  ConfigEntries entries = read_toml(read_file(path, 16 << 20), path.string());
  return entries.contains(kWatchedProgram) ? std::optional(std::move(entries)) : std::nullopt;
}

DetectorOptions watched_detector_options(const std::string& judged_by, std::optional<double> plateau_level) {
  DetectorOptions options;
  options.direction = guess_direction(judged_by).value_or(Direction::down);
  options.plateau_level = plateau_level;
  return options;
}

WatchedRun::WatchedRun(const fs::path& path, WatchedRunFacts facts) : path_(path), facts_(std::move(facts)) {
  make_directories(path);
  lock_ = std::make_unique<DirectoryLock>(path);
  remove_leftovers(path);
  if (fs::exists(path / "config.toml") || fs::exists(path / "metrics.jsonl"))
    throw Error(ErrorKind::output, "already holds a run", path.string(), "choose another place, or remove it");
  describe({});
  metrics_ = std::make_unique<AppendFile>(path / "metrics.jsonl");
  events_ = std::make_unique<AppendFile>(path / "events.jsonl");
  scalars_ = std::make_unique<EventWriter>(EventWriter::find_or_create(path / "tb"));
  started_ = seconds_since_epoch();
  write_meta(RunStatus::running, 0);
}

void WatchedRun::describe(const OptionValues& more) {
  std::vector<std::pair<std::string, OptionValue>> entries = {
      {kWatchedProgram, facts_.program}, {"watch.model", facts_.model}, {"watch.attention", facts_.attention}};
  if (facts_.plateau_level) entries.emplace_back(kWatchedPlateau, *facts_.plateau_level);
  entries.insert(entries.end(), more.begin(), more.end());
  const std::string text =
      "# Watched in a program that is not Eureka's: this describes the run, and does not repeat it.\n" +
      write_toml(entries);
  atomic_write(path_ / "config.toml", text);
}

void WatchedRun::log(const MetricsRow& row) {
  if (row.step <= last_step_)
    throw Error(ErrorKind::input, fmt::format("step {} after step {}: steps must increase", row.step, last_step_),
                path_.string());
  if (row.numbers.empty()) return;
  lock_->refuse_if_lost();
  last_step_ = row.step;
  metrics_->append_line(to_text(row));
  std::vector<TaggedValue> scalars;
  std::vector<std::string> tags;
  tags.reserve(row.numbers.size());
  for (const auto& [name, value] : row.numbers) {
    const std::size_t end = name.find('_');
    const bool has_group = name.starts_with("val_") || name.starts_with("train_");
    tags.push_back(has_group ? name.substr(0, end) + "/" + name.substr(end + 1) : name);
    scalars.emplace_back(tags.back(), value);
  }
  scalars_->add_scalars(row.step, scalars, seconds_since_epoch());
  judge(row);
  write_meta(RunStatus::running, row.step);
}

// The first number of all, until there is one on validation samples.
void WatchedRun::choose_judge(const MetricsRow& row) {
  const std::string before = judged_by_;
  for (const auto& [name, value] : row.numbers)
    if (judges_rather(name, judged_by_)) judged_by_ = name;
  if (judged_by_ == before) return;
  detector_.emplace(watched_detector_options(judged_by_, facts_.plateau_level));
  noted_ = {};
}

void WatchedRun::judge(const MetricsRow& row) {
  choose_judge(row);
  MetricsRow seen{.step = row.step};
  for (const auto& [name, value] : row.numbers)
    if (parse_number_name(name)) seen.add(name, value);
  if (!seen.numbers.empty()) seen_ = seen;
  if (const auto loss = row.find(kValidationLoss)) last_validation_loss_ = loss;
  if (const auto training = row.find("train_" + metric_key(judged_by_)); training && judged_by_.starts_with("val_"))
    detector_->add_training(static_cast<double>(row.step), *training);
  const auto value = row.find(judged_by_);
  if (!value) return;
  last_judged_ = value;
  detector_->add(static_cast<double>(row.step), *value);
  for (const RiseNews& news : noted_.update(detector_->findings()))
    for (const RunEvent::What& what : news.events) events_->append_line(to_text(RunEvent{row.step, what}));
}

const Findings& WatchedRun::findings() const {
  static const Findings none;
  return detector_ ? detector_->findings() : none;
}

void WatchedRun::write_meta(RunStatus status, std::int64_t steps) const {
  RunMeta meta{
      .version = EUREKA_VERSION, .status = status, .seed = facts_.seed, .host = host_name(), .engine = facts_.program};
  meta.cores = std::thread::hardware_concurrency();
  meta.instructions = "not known";
  meta.threads = facts_.threads;
  meta.device = facts_.device;
  meta.updates_done = steps;
  meta.seconds_of_last_session = seconds_since_epoch() - started_;
  replace_file(path_ / "meta.json", to_text(meta));
}

void WatchedRun::end(RunStatus status, std::int64_t steps) {
  lock_->refuse_if_lost();
  write_meta(status, steps);
  if (status != RunStatus::finished && status != RunStatus::diverged) return;
  if (detector_) detector_->finish();
  RunSummary summary{.status = status, .steps = steps, .seed = facts_.seed, .task = "watched"};
  summary.model = facts_.model;
  summary.attention = facts_.attention;
  summary.parameters = facts_.parameters;
  const std::string key = metric_key(judged_by_);
  if (!key.empty()) summary.metric = key;
  summary.task_plateau = facts_.plateau_level;
  if (judged_by_.starts_with("val_") && last_judged_) summary.final_validation_metric = if_finite(*last_judged_);
  if (last_validation_loss_) summary.final_validation_loss = if_finite(*last_validation_loss_);
  const Metric metric{.name = key, .plateau = facts_.plateau_level};
  sum_up(findings(), metric, summary);
  if (!seen_.numbers.empty()) summary.diagnostics = seen_;
  metrics_->sync();
  events_->sync();
  scalars_->sync();
  atomic_write(path_ / "summary.json", to_text(summary));
}

}  // namespace eureka
