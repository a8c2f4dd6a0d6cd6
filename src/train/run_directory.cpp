#include "train/run_directory.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <thread>

#include "base/process_facts.h"
#include "train/watched_run.h"

namespace eureka {
namespace {

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// With those a machine slept through: whoever was silent for long must look before he writes.
std::int64_t seconds_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

// TensorBoard groups curves by what stands before the slash.
std::string tensorboard_tag(const std::string& name) {
  for (const std::string group : {"val", "train"})
    if (name.starts_with(group + "_")) return group + "/" + name.substr(group.size() + 1);
  return name;
}

// When the run was begun: what its meta.json says already, or now.
std::string start_of(const fs::path& run) {
  try {
    if (fs::exists(run / "meta.json"))
      if (std::string started = read_meta(run).started; !started.empty()) return started;
  } catch (const Error&) {
    // Damaged: it is written anew, and nothing is computed from it.
  }
  return utc_now();
}

std::int64_t bytes_of(const fs::path& run) {
  std::int64_t bytes = 0;
  std::error_code gone;
  for (auto entry = fs::recursive_directory_iterator(run, gone); entry != fs::recursive_directory_iterator();
       entry.increment(gone))
    // Locks come and go.
    if (entry->is_regular_file(gone) && entry->path().filename() != "meta.json" &&
        !entry->path().filename().string().starts_with("."))
      bytes += static_cast<std::int64_t>(entry->file_size(gone));
  return bytes;
}

// Options that say where and by what a run is computed, not what: a run may change its engine at a checkpoint.
bool may_change_on_resume(const std::string& key) {
  return key == "run.engine" || key == "run.threads" || key == "run.device" || key == "run.keep_checkpoints";
}

// What is damaged may be as long as before; a log that is cut within a line would lose that line without a word.
bool ends_a_line(const fs::path& file, std::uint64_t bytes) {
  std::ifstream log(file, std::ios::binary);
  return bytes == 0 || (log.seekg(static_cast<std::streamoff>(bytes) - 1) && log.get() == '\n');
}

std::string beginning(const fs::path& file, std::uint64_t bytes) {
  const std::string text = read_file(file);
  if (text.size() < bytes)
    throw Error(ErrorKind::input,
                fmt::format("is shorter ({} bytes) than its checkpoint knew it ({})", text.size(), bytes),
                file.string(), "the file was cut: branch from an earlier checkpoint");
  if (!ends_a_line(file, bytes))
    throw Error(ErrorKind::input, fmt::format("has no end of a line where its checkpoint knew one (byte {})", bytes),
                file.string(), "the file was damaged: branch from an earlier checkpoint");
  return text.substr(0, bytes);
}

}  // namespace

void copy_past(const fs::path& run, const LoopState& loop, const fs::path& out) {
  atomic_write(out / "metrics.jsonl", beginning(run / "metrics.jsonl", loop.metrics_bytes));
  atomic_write(out / "events.jsonl", beginning(run / "events.jsonl", loop.events_bytes));
  std::error_code ignored;
  fs::remove_all(out / "tb", ignored);
  make_directories(out / "tb");
  // The writer cuts it back to the checkpoint; a run without one begins a new file.
  for (const fs::path& file : list_event_files(run / "tb")) replace_file(out / "tb" / file.filename(), read_file(file));
}

RunConfig read_run_config(const fs::path& run_directory, const Catalog& catalog) {
  const fs::path path = run_directory / "config.toml";
  if (!fs::exists(path))
    throw Error(ErrorKind::input, "holds no run (there is no config.toml)", run_directory.string(),
                "eureka train PRESET --out DIR begins one");
  const ConfigEntries entries = read_toml(read_file(path, 16 << 20), path.string());
  if (entries.contains(kWatchedProgram))
    throw Error(ErrorKind::input, "was watched in another program: it cannot be trained, continued or looked into here",
                run_directory.string(),
                "its curves and what was seen of its attention are there: eureka detect, eureka report");
  try {
    return resolve_config(entries, catalog);
  } catch (const Error& error) {
    throw Error(
        error.kind(),
        fmt::format("{} (written by {}; this is eureka {})", error.what(), writer_of(run_directory), EUREKA_VERSION),
        error.where(), error.hint());
  }
}

void refuse_other_config(const fs::path& run_directory, const RunConfig& config) {
  EUREKA_CHECK(config.catalog != nullptr, "a config that is compared with a run's was made by resolve_config");
  std::map<std::string, OptionValue> before;
  for (auto& [key, value] : flat_entries(read_run_config(run_directory, *config.catalog)))
    before[key] = std::move(value);
  for (const auto& [key, value] : flat_entries(config)) {
    const auto found = before.find(key);
    if (may_change_on_resume(key) || (found != before.end() && found->second == value)) continue;
    throw Error(ErrorKind::config,
                fmt::format("this run has {} = {}, not {}", key,
                            found == before.end() ? "nothing" : to_toml(found->second), to_toml(value)),
                (run_directory / "config.toml").string(),
                "a resumed run keeps its config: leave the override out, or choose another --out DIR");
  }
}

RunDirectory::RunDirectory(const fs::path& path, const RunConfig& config)
    : path_(path), seed_(config.run.seed), keep_(config.run.keep), lock_(std::make_unique<DirectoryLock>(path)) {
  remove_leftovers(path);
}

RunDirectory RunDirectory::create(const fs::path& path, const RunConfig& config) {
  make_directories(path);
  RunDirectory directory(path, config);
  if (fs::exists(path / "config.toml"))
    throw Error(ErrorKind::output, "already holds a run", path.string(),
                "continue it with --resume, or choose another place with --out DIR");
  atomic_write(path / "config.toml", to_toml(config));
  directory.open_logs();
  return directory;
}

RunDirectory RunDirectory::reopen(const fs::path& path, const RunConfig& config) {
  make_directories(path);
  // A run killed before its config was written has nothing to continue from: begin it.
  if (!fs::exists(path / "config.toml")) return create(path, config);
  RunDirectory directory(path, config);
  refuse_other_config(path, config);
  directory.open_logs();
  return directory;
}

void RunDirectory::open_logs() {
  make_own_directory(path_ / "checkpoints");
  metrics_ = std::make_unique<AppendFile>(path_ / "metrics.jsonl");
  events_ = std::make_unique<AppendFile>(path_ / "events.jsonl");
  // A checkpoint is worth nothing without the logs it knows.
  if (keep_ == Keep::all) {
    scalars_ = std::make_unique<EventWriter>(EventWriter::find_or_create(path_ / "tb"));
    sync_directory(path_ / "tb");
  }
  sync_directory(path_);
}

void RunDirectory::refuse_if_removed_lately() {
  if (const std::int64_t now = seconds_since_boot(); now != looked_) {
    refuse_if_removed();
    looked_ = now;
  }
}

void RunDirectory::log_metrics(const MetricsRow& row) {
  refuse_if_removed_lately();
  metrics_->append_line(to_text(row));
  if (!scalars_) return;
  std::map<std::string, double> tagged;
  for (const auto& [name, value] : row.numbers) tagged[tensorboard_tag(name)] = value;
  scalars_->add_scalars(row.step, std::vector<TaggedValue>(tagged.begin(), tagged.end()), seconds_since_epoch());
}

void RunDirectory::write_look(std::int64_t step, const std::string& name, const std::string& bytes) {
  refuse_if_removed();
  const fs::path file = path_ / "looks" / fmt::format("step-{}", step) / name;
  make_directories(file.parent_path());
  atomic_write(file, bytes);
}

void RunDirectory::log_event(const RunEvent& event) { events_->append_line(to_text(event)); }

void RunDirectory::sync_logs() {
  refuse_if_removed();
  metrics_->sync();
  events_->sync();
  if (scalars_) scalars_->sync();
}

void RunDirectory::mark(LoopState& loop) {
  sync_logs();
  measure(loop);
}

void RunDirectory::measure(LoopState& loop) const {
  loop.metrics_bytes = metrics_->size();
  loop.events_bytes = events_->size();
  loop.tensorboard_bytes = scalars_ ? scalars_->size() : 0;
}

void RunDirectory::rewind(const LoopState& loop) {
  const std::tuple<AppendFile&, std::uint64_t, const char*> logs[] = {{*metrics_, loop.metrics_bytes, "metrics.jsonl"},
                                                                      {*events_, loop.events_bytes, "events.jsonl"}};
  for (const auto& [file, bytes, name] : logs)
    if (file.size() < bytes)
      throw Error(
          ErrorKind::input, fmt::format("is shorter ({} bytes) than its checkpoint knew it ({})", file.size(), bytes),
          (path_ / name).string(), "the file was cut: resume from an earlier checkpoint with --resume --step N");
  for (const auto& [file, bytes, name] : logs)
    if (!ends_a_line(path_ / name, bytes))
      throw Error(ErrorKind::input, fmt::format("has no end of a line where its checkpoint knew one (byte {})", bytes),
                  (path_ / name).string(),
                  "the file was damaged: resume from an earlier checkpoint with --resume --step N");
  remove_summary(path_);
  remove_checkpoints_after(path_, loop.step);
  for (const auto& [file, bytes, name] : logs) file.truncate(bytes);
  if (scalars_) scalars_->truncate(loop.tensorboard_bytes);
}

void RunDirectory::write_meta(RunMeta meta) {
  refuse_if_removed();
  meta.version = EUREKA_VERSION;
  meta.commit = build_commit();
  meta.command = command_line();
  if (started_.empty()) started_ = start_of(path_);
  meta.started = started_;
  meta.seed = seed_;
  meta.host = host_name();
  meta.processor = processor_name();
  if (meta.status != RunStatus::running) {
    meta.ended = utc_now();
    meta.disk_bytes += bytes_of(path_);
  }
  meta.cores = std::thread::hardware_concurrency();
  // Not worth a sync: nothing is computed from it.
  replace_file(path_ / "meta.json", to_text(meta));
}

void RunDirectory::drop_all_but_logs() {
  refuse_if_removed();
  // The newest checkpoint first: what is left is always a state to go on from.
  remove_checkpoints_after(path_, 0);
  std::error_code ignored;
  fs::remove_all(path_ / "looks", ignored);
  fs::remove(path_ / "checkpoints", ignored);
}

void RunDirectory::write_summary(const RunSummary& summary) {
  // A run that has ended must not lack its last rows after a power cut.
  sync_logs();
  atomic_write(path_ / "summary.json", to_text(summary));
}

}  // namespace eureka
