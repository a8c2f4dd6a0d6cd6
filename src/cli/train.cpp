// eureka train: one run.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "cli/offered_words.h"
#include "cli/rank_processes.h"
#include "cli/run_and_show.h"
#include "cli/run_name.h"
#include "cli/shown_number.h"
#include "lab/presets.h"
#include "train/ranked_run.h"

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
  std::string ranks;
  ShowOptions show;
};

// What is asked for, before anything is chosen for the user.
struct Asked {
  ConfigEntries base, changes, all;
};

Asked read_asked(const TrainArguments& arguments) {
  Asked asked;
  if (!arguments.source.empty()) {
    const ConfigSource source = find_config(arguments.source);
    asked.base = read_toml(source.text, source.file_name);
  } else if (arguments.resume && !arguments.out.empty()) {
    asked.base = to_entries(read_run_config(arguments.out, catalog()), arguments.out);
  } else {
    throw Error(ErrorKind::usage, "eureka train needs a preset or a file", {},
                "for example: eureka train two-step  (eureka list presets)");
  }
  asked.changes = parse_overrides(arguments.overrides);
  asked.all = merge_entries(asked.base, asked.changes);
  if (arguments.seed >= 0) asked.all["run.seed"] = {arguments.seed, "--seed"};
  if (arguments.threads >= 0) asked.all["run.threads"] = {arguments.threads, "--threads"};
  return asked;
}

// "runs/two-step-qk_norm-seed0"
fs::path default_place(const TrainArguments& arguments, const Asked& asked) {
  const RunConfig config = resolve_config(asked.all, catalog());
  const std::string differs = settings_name(real_changes(resolve_config(asked.base, catalog()), config, asked.changes));
  return fs::path("runs") / fmt::format("{}{}{}-seed{}", base_name(arguments.source), differs.empty() ? "" : "-",
                                        differs, config.run.seed);
}

// Where nothing is said of them, a run looks with the default set of diagnostics and keeps the checkpoints around its
// moment, unless it is to keep few. One that is continued does as it was begun.
RunConfig config_at(const fs::path& place, const TrainArguments& arguments, ConfigEntries entries) {
  const RunConfig said = resolve_config(entries, catalog());
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
  if (!arguments.show.number.empty()) add_shown(find_shown_number(arguments.show.number), entries);
  return resolve_config(entries, catalog());
}

// This process among those of its run.
struct OwnRank {
  std::unique_ptr<RankProcesses> others;  // started here
  std::unique_ptr<Ranks> ranks;           // nothing: the run is this process
};

constexpr int kMostOnOneMachine = 1024;

int processes_in(const std::string& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 1 || number > kMostOnOneMachine)
    throw Error(ErrorKind::usage, fmt::format("'--ranks' is '{}', neither a number of processes nor slurm", text), {},
                "for example --ranks 2");
  return number;
}

OwnRank join(const TrainArguments& arguments) {
  OwnRank own;
  // A trial is one process, wherever its study was started.
  if (arguments.show.heartbeat >= 0) return own;
  std::optional<RankPlace> place = place_in_environment(::getenv);
  if (!place && arguments.ranks == "slurm") {
    place = place_in_slurm(::getenv);
  } else if (!place && !arguments.ranks.empty()) {
    if (const int processes = processes_in(arguments.ranks); processes > 1) {
      own.others = std::make_unique<RankProcesses>(processes);
      place = own.others->own_place();
    }
  }
  if (place) own.ranks = join_ranks(*place);
  return own;
}

int follow(Ranks& ranks) {
  switch (follow_run(ranks, catalog(), stop_requested())) {
    case RunStatus::finished:
      return kOk;
    case RunStatus::interrupted:
      return kInterrupted;
    default:
      return kFailed;
  }
}

int train(const TrainArguments& arguments) {
  const OwnRank own = join(arguments);
  if (own.ranks && !own.ranks->place().leads()) return follow(*own.ranks);
  const Asked asked = read_asked(arguments);
  const auto config_in = [&](const fs::path& place) { return config_at(place, arguments, asked.all); };
  RunRequest request{.directory = arguments.out, .resume = arguments.resume, .resume_step = {}};
  request.ranks = own.ranks.get();
  if (arguments.step >= 0) request.resume_step = arguments.step;
  if (!arguments.out.empty()) return run_and_show(config_in(request.directory), request, arguments.show);
  const fs::path wanted = default_place(arguments, asked);
  if (arguments.resume) {
    request.directory =
        find_directory(wanted, [&](const fs::path& place) { return holds_run(place, config_in(place)); });
    return run_and_show(config_in(request.directory), request, arguments.show);
  }
  const RunConfig config = config_in(wanted);
  const ClaimedDirectory claimed(wanted);
  request.directory = claimed.path();
  return run_and_show(config, request, arguments.show);
}

}  // namespace

void add_train(Command& program) {
  Command verb = program.add_command("train", "one run: train a model on a task and watch for the moment");
  auto arguments = std::make_shared<TrainArguments>();
  verb.option("config", arguments->source, "a preset (eureka list presets), a TOML file, or a run directory to repeat")
      .suggests(run_presets);
  verb.option("--out", arguments->out, "run directory; when left out runs/NAME, after what differs from the preset");
  verb.option("--set", arguments->overrides, "section.key=value; repeatable (eureka list options)")
      .repeatable()
      .suggests(settings);
  verb.option("--seed", arguments->seed, "seed of data and initial weights").not_negative();
  verb.option("--threads", arguments->threads, "CPU threads of this run").positive();
  verb.flag("--resume", arguments->resume, "continue a run that was stopped; begins it if there is none");
  verb.option("--step", arguments->step, "with --resume: from this checkpoint, not the newest; 0: from the start")
      .not_negative()
      .needs("--resume");
  verb.option("--ranks", arguments->ranks,
              "processes of this machine that share every batch (reference engine), or slurm: those that srun started");
  add_show_options(verb, arguments->show);
  verb.runs([=] { return train(*arguments); });
}

}  // namespace eureka::cli
