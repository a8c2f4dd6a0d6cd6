// eureka study: several arms over the same seeds, every trial a process of its own.
#include <fmt/format.h>

#include <unistd.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/terminal.h"
#include "cli/cli.h"
#include "lab/study.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

struct StudyArguments {
  std::string source;
  std::string out;
  std::vector<std::string> overrides;
  int jobs = 0;
  std::int64_t seeds = 0;
  bool resume = false;
  bool json = false;
};

fs::path default_out(const std::string& source) { return fs::path("studies") / fs::path(source).stem(); }

std::string cell(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

void print_table(const std::vector<ArmResult>& results) {
  TextTable table(
      {{"arm", Align::left}, {"moments"}, {"median step"}, {"mean of moments"}, {"10-90% width"}, {"final accuracy"}});
  for (const ArmResult& result : results)
    table.add_row({result.name, fmt::format("{}/{}", result.moments, result.trials), cell(result.median_step, 0),
                   cell(result.mean_step_of_moments, 0), cell(result.median_width, 0),
                   cell(result.median_final_accuracy, 3)});
  fmt::print("{}", table.str(use_colour(STDOUT_FILENO)));
}

nlohmann::ordered_json to_json(const std::vector<ArmResult>& results) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json arms = Json::array();
  for (const ArmResult& result : results)
    arms.push_back({{"name", result.name},
                    {"n", result.trials},
                    {"moments", result.moments},
                    {"median", number(result.median_step)},
                    {"mean_of_moments", number(result.mean_step_of_moments)},
                    {"width", number(result.median_width)},
                    {"final_accuracy", number(result.median_final_accuracy)}});
  return {{"arms", arms}};
}

int study(const StudyArguments& arguments) {
  Study plan = read_study(find_config(arguments.source));
  plan.overrides = merge_entries(plan.overrides, parse_overrides(arguments.overrides));
  if (arguments.seeds > 0) {
    plan.seeds.clear();
    for (std::int64_t seed = 1; seed <= arguments.seeds; ++seed) plan.seeds.push_back(seed);
  }
  const fs::path out = arguments.out.empty() ? default_out(arguments.source) : fs::path(arguments.out);
  const std::vector<Trial> trials = plan_trials(plan, catalog(), out);
  if (!arguments.resume && fs::exists(out / "study.json"))
    throw Error(ErrorKind::output, "already holds a study", out.string(),
                "continue it with --resume, or choose another place with --out DIR");
  make_directories(out);
  const DirectoryLock lock(out);

  ProgressBar bar(out.filename().string(), trials.size());
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto failures = run_trials(
      trials, {.jobs = arguments.jobs > 0 ? arguments.jobs : cores, .program = {}},
      [&](std::size_t ended) {
        bar.update(ended, fmt::format("{} arms x {} seeds", plan.arms.size(), plan.seeds.size()));
      },
      stop_requested());
  bar.finish();
  if (stop_requested().load()) {
    fmt::print(stderr, "eureka: interrupted; every trial is checkpointed: eureka study {} --out {} --resume\n",
               arguments.source, out.string());
    return kInterrupted;
  }
  const std::vector<ArmResult> results = collect_results(plan, trials);
  atomic_write(out / "study.json", to_json(results).dump(2) + "\n");
  if (arguments.json)
    fmt::print("{}\n", to_json(results).dump(2));
  else
    print_table(results);
  for (const TrialFailure& failure : failures)
    fmt::print(stderr, "eureka: {} failed twice: {}\n", failure.directory.string(), failure.reason);
  return failures.empty() ? kOk : kFailed;
}

}  // namespace

void add_study(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("study", "several arms over the same seeds: who has the moment sooner?");
  auto arguments = std::make_shared<StudyArguments>();
  verb->add_option("study", arguments->source, "a study preset (eureka list presets) or a TOML file")->required();
  verb->add_option("--out", arguments->out, "directory of the study; studies/NAME when left out");
  verb->add_option("--set", arguments->overrides, "section.key=value for every arm; repeatable")->take_all();
  verb->add_option("--jobs", arguments->jobs, "trials at a time; all cores when left out")->check(CLI::Range(1, 1024));
  verb->add_option("--seeds", arguments->seeds, "seeds 1..N instead of the study's own")->check(CLI::Range(1, 100000));
  verb->add_flag("--resume", arguments->resume, "continue a study that was stopped");
  verb->add_flag("--json", arguments->json, "print study.json instead of the table");
  verb->callback([=, &chosen] { chosen = [=] { return study(*arguments); }; });
}

}  // namespace eureka::cli
