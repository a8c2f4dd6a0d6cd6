// eureka train: one run.
#include <fmt/format.h>

#include "cli/run_and_show.h"
#include "cli/shown_number.h"
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

// two-step with attention.rule=qk_norm and train.lr=0.001 becomes runs/two-step-qk_norm-seed0-lr=0.001.
fs::path default_out(const TrainArguments& arguments, const RunConfig& config) {
  std::string name =
      fmt::format("{}-{}-seed{}", fs::path(arguments.source).stem().string(), config.attention.name, config.run.seed);
  for (const auto& [key, entry] : parse_overrides(arguments.overrides))
    if (key != "attention.rule" && !key.starts_with("run.")) name += setting_name(key, entry);
  return fs::path("runs") / name;
}

fs::path place_of(const TrainArguments& arguments, const RunConfig& config) {
  return arguments.out.empty() ? default_out(arguments, config) : fs::path(arguments.out);
}

// Where nothing is said of them, a run looks with the default set of diagnostics and keeps the checkpoints around its
// moment, unless it is to keep few. One that is continued does as it was begun.
void choose_defaults(const TrainArguments& arguments, ConfigEntries& entries) {
  const RunConfig said = resolve_config(entries, catalog());
  const fs::path place = place_of(arguments, said);
  DiagnoseOptions diagnose{.names = kDefaultDiagnostics, .every = kDefaultLookEvery * said.train.eval_every};
  std::int64_t around_moment = said.run.keep_checkpoints == 0 ? said.train.eval_every : 0;
  if (arguments.resume && fs::exists(place / "config.toml")) {
    const RunConfig before = read_run_config(place, catalog());
    diagnose = before.diagnose;
    around_moment = before.run.around_moment;
  }
  const auto choose = [&](const char* key, const OptionValue& value) {
    entries.try_emplace(key, ConfigEntry{value, "the default"});
  };
  if (!entries.contains("diagnose.names")) choose("diagnose.every", diagnose.every);
  choose("diagnose.names", diagnose.names);
  choose("run.around_moment", around_moment);
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
  choose_defaults(arguments, entries);
  if (!arguments.show.number.empty()) add_shown(find_shown_number(arguments.show.number), entries);
  return entries;
}

int train(const TrainArguments& arguments) {
  const RunConfig config = resolve_config(entries_of(arguments), catalog());
  RunRequest request{.directory = place_of(arguments, config), .resume = arguments.resume, .resume_step = {}};
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
