#include "lab/check_trials.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <set>

#include "io/json.h"
#include "lab/trial_row.h"
#include "train/interventions.h"
#include "train/run_directory.h"
#include "train/run_memory.h"

namespace eureka {
namespace {

std::string place_of(const Study& study, const Trial& trial) {
  const std::string& point = study.points[trial.point].name;
  return fmt::format("arm '{}'{}", study.arms[trial.arm].name, point.empty() ? "" : fmt::format(" at {}", point));
}

// A step after all others.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// Of the parameters of the model, which is made for it; the task has to give a sample, which it cannot without its
// data, what is to be transplanted from `first_step` on has to be there, and memory for so many at a time.
Shapes shapes_of(const RunConfig& config, std::int64_t first_step, std::size_t at_a_time, TrialCost* cost = nullptr) {
  const auto task = Registry<Task>::instance().make(config.task.name, config.task.options);
  Batch batch;
  task->sample({.seed = 1, .stream = "train", .step = 0, .samples = 1}, batch);
  refuse_beyond_machine(config, *task, at_a_time);
  const ChosenEngine chosen = make_engine(config.run.engine, engine_config(config, task->shape()));
  Interventions(config, chosen.engine->parameters()).load(first_step, {});
  Shapes shapes;
  for (const ParameterSpec& parameter : chosen.engine->parameters()) shapes[parameter.name] = parameter.shape;
  constexpr double kSecondsOfSteps = 0.02;
  if (cost != nullptr) *cost = measure_cost(config, *task, *chosen.engine, kSecondsOfSteps);
  return shapes;
}

void refuse_other_shapes(const Shapes& before, const Shapes& after) {
  for (const auto& [name, shape] : after)
    if (const auto found = before.find(name); found != before.end() && found->second != shape)
      throw Error(ErrorKind::config, fmt::format("the change gives '{}' another shape", name), {},
                  "a branch keeps the shape of the model");
}

// What a run on the plateau has reached already would call every arm alike.
void refuse_target_on_plateau(const Study& study, const RunConfig& config) {
  if (study.event != AwaitedEvent::target || !study.target) return;
  const Metric metric = metric_of(config);
  if (!metric.plateau || (metric.is_better(*study.target, *metric.plateau) && !metric.on_plateau(*study.target)))
    return;
  throw Error(ErrorKind::config,
              fmt::format("study.target = {:g} is no more than runs on the plateau reach: it lies at {:.3f}",
                          *study.target, *metric.plateau),
              {}, "choose a better target");
}

Json cost_json(const Trial& trial, const TrialCost& cost) {
  return {{"point", trial.point},
          {"arm", trial.arm},
          {"times", {cost.step, cost.step_median, cost.validation, cost.validation_median}},
          {"bytes", cost.bytes_of_model}};
}

ArmCosts costs_in(const Json& list) {
  ArmCosts costs;
  for (const Json& one : list) {
    const Json& times = one.at("times");
    costs[{one.at("point").get<std::size_t>(), one.at("arm").get<std::size_t>()}] = {
        times[0].get<double>(), times[1].get<double>(), times[2].get<double>(), times[3].get<double>(),
        one.at("bytes").get<double>()};
  }
  return costs;
}

// The first complaint as JSON, or what the arms cost.
std::string examined(const Study& study, const std::vector<const Trial*>& trials, std::size_t at_a_time,
                     const RunConfig* continued) {
  std::string place = "the runs to continue";
  const auto start = std::chrono::steady_clock::now();
  // Studies with many points are not measured through; an arm known at one point stands for it at others.
  constexpr auto kTimeForCosts = std::chrono::seconds(2);
  Json costs = Json::array();
  const auto complaint = [&](const std::string& what, const std::string& hint) {
    return Json{{"what", what}, {"where", place}, {"hint", hint}}.dump(-1, Json::BadText::replace);
  };
  try {
    // What the runs to continue did themselves is done.
    const Shapes before = continued != nullptr ? shapes_of(*continued, kNever, 1) : Shapes{};
    for (const Trial* trial : trials) {
      place = place_of(study, *trial);
      refuse_target_on_plateau(study, trial->config);
      const bool begun = fs::exists(trial->directory / "config.toml");
      const std::int64_t first_step = begun ? kNever : study.branch ? study.branch->at : 0;
      const bool measures = std::chrono::steady_clock::now() - start < kTimeForCosts;
      TrialCost cost;
      refuse_other_shapes(before, shapes_of(trial->config, first_step, at_a_time, measures ? &cost : nullptr));
      if (measures) costs.push_back(cost_json(*trial, cost));
    }
    return Json{{"costs", costs}}.dump();
  } catch (const Error& error) {
    return complaint(error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    return complaint("out of memory", "choose a smaller model");
  } catch (const std::exception& error) {
    return complaint(error.what(), {});
  }
}

std::vector<const Trial*> one_of_each(const std::vector<Trial>& trials) {
  std::set<std::pair<std::size_t, std::size_t>> seen;
  std::vector<const Trial*> chosen;
  for (const Trial& trial : trials)
    if ((trial.directory.empty() || !fs::exists(trial.directory / "summary.json")) &&
        seen.insert({trial.point, trial.arm}).second)
      chosen.push_back(&trial);
  return chosen;
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) != 0;)
    if (got > 0)
      text.append(buffer, static_cast<std::size_t>(got));
    else if (errno != EINTR)
      break;
  return text;
}

}  // namespace

ArmCosts check_trials(const Study& study, const std::vector<Trial>& trials, std::size_t slots,
                      const RunConfig* continued) {
  const std::vector<const Trial*> chosen = one_of_each(trials);
  if (chosen.empty()) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::failed, "cannot make a pipe");
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const std::string text = examined(study, chosen, std::min(slots, trials.size()), continued);
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string text = child > 0 ? read_all(ends[0]) : "";
  ::close(ends[0]);
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  if (!text.empty()) {
    const Json complaint = Json::parse(text);
    if (complaint.contains("costs") && status == 0) return costs_in(complaint.at("costs"));
    throw Error(ErrorKind::config, complaint.at("what").get<std::string>(), complaint.at("where").get<std::string>(),
                complaint.at("hint").get<std::string>());
  }
  throw Error(ErrorKind::failed, "the models of this study cannot be made: their process died", {},
              "eureka train with the settings of one arm may tell more");
}

}  // namespace eureka
