#include "lab/study_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/printable.h"
#include "io/json.h"

namespace eureka {
namespace {

// Of a line; one of the future has another.
constexpr int kFormat = 1;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

Json to_json(const Trial& trial, const fs::path& study) {
  Json json = {{"directory", trial.directory.lexically_relative(study).string()},
               {"seed", trial.seed},
               {"config", to_toml(trial.config)}};
  if (trial.origin) {
    Json change = Json::object();
    for (const auto& [key, entry] : trial.origin->change) change[key] = to_toml(entry.value);
    json["origin"] = {{"run", fs::absolute(trial.origin->run).lexically_normal().string()},
                      {"step", trial.origin->step},
                      {"change", change}};
  }
  return json;
}

TrialOrigin origin_from(const Json& json, const std::string& where) {
  TrialOrigin origin;
  origin.run = json.at("run").get<std::string>();
  origin.step = json.at("step").get<std::int64_t>();
  for (const auto& [key, value] : json.at("change").items()) {
    auto [name, entry] = parse_assignment(fmt::format("{}={}", key, value.get<std::string>()));
    entry.where = where;
    origin.change[name] = std::move(entry);
  }
  return origin;
}

bool is_below(const fs::path& directory) {
  return !directory.empty() && directory.is_relative() &&
         std::none_of(directory.begin(), directory.end(), [](const fs::path& part) { return part == ".."; });
}

Trial trial_from(const Json& json, const fs::path& study, const Catalog& catalog, const std::string& where) {
  Trial trial;
  const fs::path directory = json.at("directory").get<std::string>();
  if (!is_below(directory))
    throw Error(ErrorKind::input, fmt::format("'{}' is no place below the study", directory.string()), where);
  trial.directory = study / directory;
  trial.seed = json.at("seed").get<std::int64_t>();
  trial.config = resolve_config(read_toml(json.at("config").get<std::string>(), where), catalog);
  if (const Json* origin = json.find("origin")) trial.origin = origin_from(*origin, where);
  return trial;
}

std::string task_line(const StudyTask& task, std::size_t index) {
  if (!is_utf8(task.study.string()))
    throw Error(ErrorKind::output, "is not valid UTF-8, so no list of tasks can name it", task.study.string(),
                "choose another place with --out DIR");
  Json trials = Json::array();
  for (const Trial& trial : task.trials) trials.push_back(to_json(trial, task.study));
  return Json{{"format", kFormat},
              {"task", index},
              {"study", task.study.string()},
              {"timeout", task.timeout_seconds},
              {"trials", trials}}
      .dump();
}

// Where line `index` is if all are as long as the first; nothing if what is there does not call itself so.
std::optional<std::string> line_at_its_place(const fs::path& file, std::uintmax_t bytes, std::size_t index) {
  std::ifstream text(file);
  std::string line;
  if (!std::getline(text, line) || text.eof()) return std::nullopt;
  const std::size_t length = line.size() + 1;
  if (index >= bytes / length) return std::nullopt;
  if (index > 0) {
    if (!text.seekg(static_cast<std::streamoff>(index * length - 1)) || text.get() != '\n') return std::nullopt;
    if (!std::getline(text, line) || line.size() + 1 != length) return std::nullopt;
  }
  const std::optional<Json> json = Json::parse_if_valid(line);
  if (!json || !json->is_object()) return std::nullopt;
  const Json* task = json->find("task");
  return task != nullptr && *task == index ? std::optional(line) : std::nullopt;
}

// Line `index` of a file that may have many thousands.
std::string line_of(const fs::path& file, std::size_t index) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(file, failure);
  if (failure) throw Error(ErrorKind::input, failure.message(), file.string(), "eureka study NAME --plan writes tasks");
  if (bytes > kMostBytes) throw Error(ErrorKind::input, "is too large to be a list of tasks", file.string());
  if (auto line = line_at_its_place(file, bytes, index)) return *line;
  std::ifstream text(file);
  std::string line;
  std::size_t lines = 0;
  for (; std::getline(text, line); ++lines)
    if (lines == index) return line;
  throw Error(ErrorKind::input, fmt::format("has {} tasks, so there is no task {}", lines, index), file.string(),
              "the first is 0");
}

}  // namespace

std::vector<StudyTask> pack_trials(const Study& study, const fs::path& out, const std::vector<Trial>& trials,
                                   std::size_t trials_per_task) {
  const fs::path place = fs::absolute(out).lexically_normal();
  std::vector<StudyTask> tasks;
  for (Trial trial : trials) {
    if (tasks.empty() || tasks.back().trials.size() >= std::max<std::size_t>(1, trials_per_task))
      tasks.push_back({place, study.timeout_seconds, {}});
    trial.directory = fs::absolute(trial.directory).lexically_normal();
    tasks.back().trials.push_back(std::move(trial));
  }
  return tasks;
}

std::string task_list(const std::vector<StudyTask>& tasks) {
  std::vector<std::string> lines;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    lines.push_back(task_line(tasks[i], i));
    longest = std::max(longest, lines.back().size());
  }
  std::string text;
  for (const std::string& line : lines) text += line + std::string(longest - line.size(), ' ') + '\n';
  return text;
}

StudyTask read_task(const fs::path& file, std::size_t index, const Catalog& catalog) {
  const std::string where = fmt::format("{}:{}", file.string(), index + 1);
  const std::string line = line_of(file, index);
  try {
    const Json json = Json::parse(line);
    if (const auto format = json.at("format").get<std::int64_t>(); format != kFormat)
      throw Error(ErrorKind::input, fmt::format("is a task of format {}; this eureka knows {}", format, kFormat), where,
                  "use the eureka that wrote it, or write it anew with --plan");
    StudyTask task;
    task.study = json.at("study").get<std::string>();
    task.timeout_seconds = json.at("timeout").get<double>();
    for (const Json& trial : json.at("trials")) task.trials.push_back(trial_from(trial, task.study, catalog, where));
    return task;
  } catch (const JsonError& error) {
    throw Error(ErrorKind::input, fmt::format("is no task: {}", error.what()), where,
                "eureka study NAME --plan writes them");
  }
}

}  // namespace eureka
