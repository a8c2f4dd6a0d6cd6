// eureka train: one run.
#include <fmt/format.h>

#include "cli/run_and_show.h"
#include "lab/presets.h"

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
  ShowOptions show;
};

// The default set of diagnostics, where nothing is said of them. A run that is continued keeps what it was begun with.
void choose_diagnostics(const TrainArguments& arguments, ConfigEntries& entries) {
  if (entries.contains("diagnose.names")) return;
  const bool continued =
      arguments.resume && !arguments.out.empty() && fs::exists(fs::path(arguments.out) / "config.toml");
  const auto choose = [&](const std::string& names, std::int64_t every) {
    entries["diagnose.names"] = {names, "the default"};
    entries.try_emplace("diagnose.every", ConfigEntry{every, "the default"});
  };
  if (continued) {
    const DiagnoseOptions before = read_run_config(arguments.out, catalog()).diagnose;
    return choose(before.names, before.every);
  }
  choose(kDefaultDiagnostics, kDefaultLookEvery * resolve_config(entries, catalog()).train.eval_every);
}

ConfigEntries entries_of(const TrainArguments& arguments) {
  ConfigEntries base;
  if (!arguments.source.empty()) {
    const ConfigSource source = find_config(arguments.source);
    base = read_toml(source.text, source.file_name);
  } else if (arguments.resume && !arguments.out.empty()) {
    base = to_entries(read_run_config(arguments.out, catalog()), arguments.out);
  } else {
    throw Error(ErrorKind::usage, "eureka train needs a preset or a file", {},
                "for example: eureka train two-step  (eureka list presets)");
  }
  ConfigEntries entries = merge_entries(std::move(base), parse_overrides(arguments.overrides));
  if (arguments.seed >= 0) entries["run.seed"] = {arguments.seed, "--seed"};
  if (arguments.threads >= 0) entries["run.threads"] = {arguments.threads, "--threads"};
  choose_diagnostics(arguments, entries);
  return entries;
}

// two-step with attention.rule=qk_norm and train.lr=0.001 becomes runs/two-step-qk_norm-seed0-lr=0.001.
fs::path default_out(const TrainArguments& arguments, const RunConfig& config) {
  std::string name =
      fmt::format("{}-{}-seed{}", fs::path(arguments.source).stem().string(), config.attention.name, config.run.seed);
  for (const auto& [key, entry] : parse_overrides(arguments.overrides))
    if (key != "attention.rule" && !key.starts_with("run.")) name += setting_name(key, entry);
  return fs::path("runs") / name;
}

int train(const TrainArguments& arguments) {
  const RunConfig config = resolve_config(entries_of(arguments), catalog());
  RunRequest request{.directory = arguments.out.empty() ? default_out(arguments, config) : fs::path(arguments.out),
                     .resume = arguments.resume,
                     .resume_step = {}};
  if (arguments.step >= 0) request.resume_step = arguments.step;
  return run_and_show(config, request, arguments.show);
}

}  // namespace

void add_train(Command& program) {
  Command verb = program.add_command("train", "one run: train a model on a task and watch for the moment");
  auto arguments = std::make_shared<TrainArguments>();
  verb.option("config", arguments->source, "a preset (eureka list presets), a TOML file, or a run directory to repeat");
  verb.option("--out", arguments->out, "run directory; runs/NAME when left out");
  verb.option("--set", arguments->overrides, "section.key=value; repeatable (eureka list options)").repeatable();
  verb.option("--seed", arguments->seed, "seed of data and initial weights").not_negative();
  verb.option("--threads", arguments->threads, "CPU threads of this run").positive();
  verb.flag("--resume", arguments->resume, "continue a run that was stopped; begins it if there is none");
  verb.option("--step", arguments->step, "with --resume: from this checkpoint, not the newest; 0: from the start")
      .not_negative()
      .needs("--resume");
  add_show_options(verb, arguments->show);
  verb.runs([=] { return train(*arguments); });
}

}  // namespace eureka::cli
