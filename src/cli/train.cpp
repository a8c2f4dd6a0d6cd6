// eureka train: one run.
#include <fmt/format.h>
#include <unistd.h>

#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/live_plot.h"
#include "engine/transformer_layout.h"
#include "lab/presets.h"
#include "train/run.h"

namespace eureka::cli {
namespace {

struct TrainArguments {
  std::string source;
  std::string out;
  std::vector<std::string> overrides;
  std::int64_t seed = -1;
  std::int64_t threads = -1;
  bool resume = false;
  std::int64_t step = -1;
  bool json = false;
  bool quiet = false;
};

ConfigEntries entries_of(const TrainArguments& arguments) {
  ConfigEntries base;
  if (!arguments.source.empty()) {
    const ConfigSource source = find_config(arguments.source);
    base = read_toml(source.text, source.file_name);
  } else if (arguments.resume && !arguments.out.empty()) {
    base = read_run_config(arguments.out);
  } else {
    throw Error(ErrorKind::usage, "eureka train needs a preset or a file", {},
                "for example: eureka train two-step  (eureka list presets)");
  }
  ConfigEntries entries = merge_entries(std::move(base), parse_overrides(arguments.overrides));
  if (arguments.seed >= 0) entries["run.seed"] = {arguments.seed, "--seed"};
  if (arguments.threads >= 0) entries["run.threads"] = {arguments.threads, "--threads"};
  return entries;
}

fs::path default_out(const TrainArguments& arguments, const RunConfig& config) {
  return fs::path("runs") / fmt::format("{}-{}-seed{}", fs::path(arguments.source).stem().string(),
                                        config.attention.name, config.run.seed);
}

void print_summary(const nlohmann::ordered_json& summary, const fs::path& out) {
  const auto& moment = summary.at("moment");
  const auto& accuracy = summary.at("final_validation_accuracy");
  fmt::print("{} after {} steps; validation accuracy {}\n", summary.at("status").get<std::string>(),
             summary.at("steps").get<std::int64_t>(),
             accuracy.is_number() ? fmt::format("{:.3f}", accuracy.get<double>()) : "none");
  if (moment.at("found").get<bool>()) {
    fmt::print("Eureka-moment at step {:.0f}: from {:.3f} to {:.3f}, 10-90% in {:.0f} steps (score {:.2f})\n",
               moment.at("step").get<double>(), moment.at("plateau_level").get<double>(),
               moment.at("level_after").get<double>(),
               moment.at("rise_end").get<double>() - moment.at("rise_start").get<double>(),
               moment.at("score").get<double>());
  } else if (moment.at("plateau_level").is_number()) {
    fmt::print("no Eureka-moment: still on the plateau at {:.3f}\n", moment.at("plateau_level").get<double>());
  } else {
    fmt::print("no Eureka-moment, and no plateau to leave\n");
  }
  fmt::print("{}\n", out.string());
}

int train(const TrainArguments& arguments) {
  const RunConfig config = resolve_config(entries_of(arguments), catalog());
  const fs::path out = arguments.out.empty() ? default_out(arguments, config) : fs::path(arguments.out);
  LivePlot plot(
      fmt::format("{} · {} · seed {}", config.task.name,
                  transformer_kind(config.model.name) ? config.attention.name : config.model.name, config.run.seed),
      arguments.quiet);
  RunRequest request{.directory = out, .resume = arguments.resume, .resume_step = {}};
  if (arguments.step >= 0) request.resume_step = arguments.step;
  const RunOutcome outcome = run_training(config, request, plot, stop_requested());
  plot.finish();
  if (outcome.status == RunStatus::interrupted) {
    fmt::print(stderr, "eureka: interrupted; checkpoint saved. Continue with: eureka train --out {} --resume\n",
               out.string());
    return kInterrupted;
  }
  if (arguments.json) {
    fmt::print("{}\n", outcome.summary.dump(2));
  } else {
    if (is_terminal(STDOUT_FILENO))
      fmt::print("{}", plot.picture(terminal_columns(STDOUT_FILENO), use_colour(STDOUT_FILENO)));
    print_summary(outcome.summary, out);
  }
  if (outcome.status == RunStatus::diverged)
    fmt::print(stderr, "eureka: the loss is no longer finite; everything up to there is in {}\n", out.string());
  return outcome.status == RunStatus::diverged ? kFailed : kOk;
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("train", "one run: train a model on a task and watch for the moment");
  auto arguments = std::make_shared<TrainArguments>();
  verb->add_option("config", arguments->source,
                   "a preset (eureka list presets), a TOML file, or a run directory to repeat");
  verb->add_option("--out", arguments->out, "run directory; runs/NAME when left out");
  verb->add_option("--set", arguments->overrides, "section.key=value; repeatable (eureka list options)")->take_all();
  verb->add_option("--seed", arguments->seed, "seed of data and initial weights")->check(CLI::NonNegativeNumber);
  verb->add_option("--threads", arguments->threads, "CPU threads of this run")->check(CLI::PositiveNumber);
  verb->add_flag("--resume", arguments->resume, "continue a run that was stopped; begins it if there is none");
  verb->add_option("--step", arguments->step, "with --resume: from this checkpoint, not the newest; 0: from the start")
      ->check(CLI::NonNegativeNumber)
      ->needs("--resume");
  verb->add_flag("--json", arguments->json, "print summary.json");
  verb->add_flag("--quiet", arguments->quiet, "no progress");
  verb->callback([=, &chosen] { chosen = [=] { return train(*arguments); }; });
}

}  // namespace eureka::cli
