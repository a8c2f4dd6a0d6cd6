#include "lab/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "base/run_program.h"
#include "io/json.h"
#include "lab/study_tasks.h"

namespace eureka {
namespace {

constexpr int kFormat = 1;
// Slurm's own default, where the cluster does not tell.
constexpr std::size_t kLargestArray = 1000;

// A job that was submitted: an array over lines of a list, or the last one.
struct SlurmJob {
  std::int64_t submission = 1;
  std::string id;
  std::string tasks;  // file below slurm/; empty: the last job
  std::size_t first = 0;
  std::size_t count = 0;
};

fs::path slurm_directory(const fs::path& out) { return out / "slurm"; }
fs::path jobs_file(const fs::path& out) { return slurm_directory(out) / "jobs.jsonl"; }

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

struct Answer {
  int code = 0;
  std::string text;
};

Answer ask(const std::vector<std::string>& words, const fs::path& directory = "/") {
  const fs::path place = fs::temp_directory_path() / "eureka-XXXXXX";
  std::string name = place.string();
  if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::failed, "cannot be written", place.string());
  const fs::path log = fs::path(name) / "said";
  Answer answer{run_program(words, directory, log), {}};
  if (fs::exists(log)) answer.text = trimmed(read_file(log));
  std::error_code ignored;
  fs::remove_all(name, ignored);
  return answer;
}

// What a program of Slurm's printed. Throws Error(failed) with that when it did not do its work.
std::string said_by(const std::vector<std::string>& words, const fs::path& directory = "/") {
  const auto [code, said] = ask(words, directory);
  if (code != 0)
    throw Error(
        ErrorKind::failed, fmt::format("{} ended with code {}: {}", words.front(), code, said), {},
        code == kProgramNotFound ? "is Slurm installed here?" : "what it said is above; correct it and try again");
  return said;
}

std::string line_of(const SlurmJob& job) {
  return Json{{"format", kFormat},  {"submission", job.submission}, {"job", job.id},
              {"tasks", job.tasks}, {"first", job.first},           {"count", job.count}}
      .dump();
}

std::vector<SlurmJob> read_jobs(const fs::path& out) {
  const fs::path file = jobs_file(out);
  if (!fs::exists(file)) return {};
  std::vector<SlurmJob> jobs;
  std::istringstream lines(read_file(file, 64 << 20));
  for (std::string line; std::getline(lines, line);) {
    // A line torn by a crash; its job finds its directories all the same.
    const std::optional<Json> json = Json::parse_if_valid(line);
    if (!json) continue;
    try {
      jobs.push_back({json->at("submission").get<std::int64_t>(), json->at("job").get<std::string>(),
                      json->at("tasks").get<std::string>(), json->at("first").get<std::size_t>(),
                      json->at("count").get<std::size_t>()});
    } catch (const JsonError& error) {
      throw Error(ErrorKind::input, error.what(), file.string(), "remove the line: its jobs are then no longer known");
    }
  }
  return jobs;
}

// Of the trials of a line of a list, below the study.
std::vector<fs::path> directories_in(const std::string& line) {
  std::vector<fs::path> directories;
  try {
    const Json json = Json::parse(line);
    for (const Json& trial : json.at("trials")) directories.emplace_back(trial.at("directory").get<std::string>());
  } catch (const JsonError&) {
    // `eureka trial` will say so.
  }
  return directories;
}

struct QueuedTask {
  std::string job;
  std::optional<std::size_t> index;  // of an array
  std::string state;
  std::string reason;
};

// "12_5|PD|Resources"
std::optional<QueuedTask> parse_queued(const std::string& line) {
  std::istringstream text(line);
  std::string id;
  QueuedTask task;
  if (!std::getline(text, id, '|') || !std::getline(text, task.state, '|')) return std::nullopt;
  std::getline(text, task.reason);
  const std::size_t bar = id.find('_');
  task.job = id.substr(0, bar);
  if (bar != std::string::npos) {
    std::size_t index = 0;
    const char* begin = id.data() + bar + 1;
    if (std::from_chars(begin, id.data() + id.size(), index).ec == std::errc()) task.index = index;
  }
  return task;
}

std::vector<QueuedTask> queued_tasks() {
  std::vector<QueuedTask> tasks;
  std::istringstream lines(
      said_by({"squeue", "--noheader", "--array", "--format=%i|%t|%r", fmt::format("--user={}", ::getuid())}));
  for (std::string line; std::getline(lines, line);)
    if (auto task = parse_queued(line)) tasks.push_back(std::move(*task));
  return tasks;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return lines;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::size_t largest_array() {
  // Whatever its code: it prints the configuration, and then complains when the controller does not answer just now.
  std::istringstream lines(ask({"scontrol", "show", "config"}).text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t size = 0;
    const std::size_t equals = line.find('=');
    if (!line.starts_with("MaxArraySize") || equals == std::string::npos) continue;
    const std::string value = line.substr(line.find_first_not_of(' ', equals + 1));
    // It is one more than the largest index.
    if (std::from_chars(value.data(), value.data() + value.size(), size).ec == std::errc() && size > 1) return size - 1;
  }
  return kLargestArray;
}

std::string submit(const fs::path& script, const fs::path& directory, std::vector<std::string> more) {
  more.insert(more.begin(), {"sbatch", "--parsable"});
  more.push_back(script.string());
  const std::string said = said_by(more, directory);
  // The last line; before it a cluster may greet. "12;cluster" where there are several.
  const std::string last = said.substr(said.rfind('\n') + 1);
  return last.substr(0, last.find(';'));
}

void refuse_taken_names(const Study& study) {
  const auto refuse = [](const std::string& name) {
    if (name == "slurm")
      throw Error(ErrorKind::config, "an arm or a point of the study is called 'slurm'", {},
                  "that is where scripts and logs go: give it another name");
  };
  for (const StudyArm& arm : study.arms) refuse(arm.name);
  for (const StudyPoint& point : study.points) refuse(point.name);
}

std::size_t trials_of_a_task(const SlurmOptions& options, std::size_t trials, double seconds, int at_a_time) {
  if (options.trials_per_task > 0) return static_cast<std::size_t>(options.trials_per_task);
  if (seconds <= 0) return 1;
  const double fit = options.minutes_per_task * 60 / seconds * at_a_time;
  // Enough tasks that nobody waits for one of them alone.
  const std::size_t most = std::max<std::size_t>(1, trials / 8);
  return std::clamp<std::size_t>(static_cast<std::size_t>(fit), 1, std::max<std::size_t>(most, 1));
}

}  // namespace

void require_slurm() {
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((fs::path(folder) / "sbatch").c_str(), X_OK) == 0) return;
  throw Error(ErrorKind::usage, "there is no sbatch on the path: this machine belongs to no Slurm cluster", {},
              "run it here (without --slurm), or give the tasks to another scheduler: eureka study NAME --plan");
}

SlurmSubmission submit_study(const Study& study, const PendingTrials& pending, const fs::path& out,
                             const SlurmOptions& options, const fs::path& program) {
  refuse_taken_names(study);
  SlurmSubmission submission;
  const SlurmQueue queue = queue_of(out);
  std::vector<Trial> trials;
  for (const Trial& trial : pending.trials)
    if (queue.trials.contains(trial.directory.lexically_relative(out)))
      ++submission.queued_before;
    else
      trials.push_back(trial);
  submission.trials = trials.size();
  if (trials.empty()) return submission;

  const fs::path place = fs::absolute(slurm_directory(out)).lexically_normal();
  make_directories(place / "logs");
  const std::vector<SlurmJob> before = read_jobs(out);
  std::int64_t number = 1;
  for (const SlurmJob& job : before) number = std::max(number, job.submission + 1);
  const int at_a_time = std::max(1, options.cpus / std::max(1, trials.front().config.run.threads));
  const std::vector<StudyTask> tasks =
      pack_trials(study, out, trials, trials_of_a_task(options, trials.size(), pending.seconds_of_trial, at_a_time));
  submission.tasks = tasks.size();
  const fs::path list = place / fmt::format("tasks-{}.jsonl", number);
  atomic_write(list, task_list(tasks));

  AppendFile record(jobs_file(out));
  const auto note = [&](const SlurmJob& job) {
    record.append_line(line_of(job));
    record.sync();
  };
  std::size_t first = 0;
  for (const std::size_t count : array_sizes(tasks.size(), largest_array())) {
    const fs::path script = place / fmt::format("trials-{}-{}.sh", number, submission.jobs.size());
    atomic_write(script, trials_script({.study = study.name,
                                        .program = program,
                                        .tasks = list,
                                        .first = first,
                                        .count = count,
                                        .trials_at_a_time = at_a_time,
                                        .logs = place / "logs"},
                                       options));
    submission.jobs.push_back(submit(script, place, {}));
    note({number, submission.jobs.back(), list.filename().string(), first, count});
    first += count;
  }
  const fs::path script = place / fmt::format("finish-{}.sh", number);
  atomic_write(script, finish_script(study.name, program, fs::absolute(out).lexically_normal(), place / "logs",
                                     !pending.is_last_phase, options));
  submission.finish = submit(script, place, {fmt::format("--dependency=afterany:{}", fmt::join(submission.jobs, ":"))});
  note({number, submission.finish, "", 0, 0});
  return submission;
}

SlurmQueue queue_of(const fs::path& out) {
  SlurmQueue queue;
  const std::vector<SlurmJob> jobs = read_jobs(out);
  if (jobs.empty()) return queue;
  std::map<std::string, std::vector<std::string>> lists;
  for (const QueuedTask& task : queued_tasks()) {
    const auto job =
        std::find_if(jobs.begin(), jobs.end(), [&](const SlurmJob& known) { return known.id == task.job; });
    if (job == jobs.end()) continue;
    if (job->tasks.empty()) {
      queue.is_finishing = true;
      continue;
    }
    const bool waits = task.state == "PD" || task.state.starts_with("RQ") || task.state == "RH";
    ++(waits ? queue.waiting : queue.running);
    if (waits && !task.reason.empty() && task.reason != "None" &&
        std::find(queue.why.begin(), queue.why.end(), task.reason) == queue.why.end())
      queue.why.push_back(task.reason);
    auto [lines, is_new] = lists.try_emplace(job->tasks);
    if (is_new) lines->second = lines_of(slurm_directory(out) / job->tasks);
    if (task.index && job->first + *task.index < lines->second.size())
      for (fs::path& directory : directories_in(lines->second[job->first + *task.index]))
        queue.trials.insert(std::move(directory));
  }
  return queue;
}

std::size_t cancel_jobs(const fs::path& out) {
  std::set<std::string> ids;
  const std::vector<SlurmJob> jobs = read_jobs(out);
  for (const QueuedTask& task : queued_tasks())
    if (std::any_of(jobs.begin(), jobs.end(), [&](const SlurmJob& job) { return job.id == task.job; }))
      ids.insert(task.job);
  if (ids.empty()) return 0;
  std::vector<std::string> words = {"scancel"};
  words.insert(words.end(), ids.begin(), ids.end());
  said_by(words);
  return ids.size();
}

}  // namespace eureka
