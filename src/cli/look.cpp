// eureka look: what diagnostics see in a run at its checkpoints.
#include "train/look.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "cli/offered_words.h"
#include "report/look_report.h"
#include "train/option_lists.h"

namespace eureka::cli {
namespace {

struct LookArguments {
  std::string source;
  std::string diagnostics;
  std::vector<std::string> overrides;
  std::int64_t samples = RunLookRequest{}.samples;
  bool training = false;
  bool json = false;
  std::string csv;
  std::string out;
};

// Those that are kept around its moments.
std::vector<std::int64_t> moment_steps(const fs::path& run) {
  const std::vector<std::int64_t> all = list_checkpoints(run);
  std::vector<std::int64_t> steps;
  for (const RunEvent& event : read_events(run))
    if (const auto* one = std::get_if<MomentCheckpoint>(&event.what))
      if (std::find(all.begin(), all.end(), one->of) != all.end()) steps.push_back(one->of);
  if (steps.empty())
    throw Error(ErrorKind::input, "this run has no checkpoints around a moment", run.string(),
                "train it with --set run.around_moment=25, or name steps: RUN@STEP,STEP");
  return steps;
}

std::vector<std::int64_t> all_steps(const fs::path& run) {
  std::vector<std::int64_t> steps = list_checkpoints(run);
  if (steps.empty())
    throw Error(ErrorKind::input, "this run has no checkpoint yet", run.string(),
                fmt::format("eureka look {}@0 looks at its initial weights", run.string()));
  return steps;
}

// "400", "400,800", "all" or "moment"; nothing: the last.
std::vector<std::int64_t> steps_at(const std::string& at, const fs::path& run, const std::string& source) {
  if (at.empty()) return {all_steps(run).back()};
  if (at == "all") return all_steps(run);
  std::vector<std::int64_t> steps = at == "moment" ? moment_steps(run) : std::vector<std::int64_t>();
  if (steps.empty())
    for (const std::string& part : split_names(at)) steps.push_back(parse_step(part).value_or(-1));
  if (steps.empty() || std::find(steps.begin(), steps.end(), -1) != steps.end())
    throw Error(ErrorKind::usage, fmt::format("'{}' names no step of a run", source), {},
                "write RUN@STEP, RUN@STEP,STEP, RUN@all, RUN@moment, or RUN for its last checkpoint");
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// A run is its own record: what is seen in it afterwards lies elsewhere.
void refuse_inside(const std::string& place, const fs::path& run, const char* option) {
  if (place.empty()) return;
  const fs::path inside = fs::weakly_canonical(place).lexically_relative(fs::weakly_canonical(run));
  if (!inside.empty() && *inside.begin() != "..")
    throw Error(ErrorKind::usage, fmt::format("{} lies in the run that is looked at", option), place,
                "a look leaves the run as it is: choose a place outside of it");
}

// DIR/step-400/maps/attention.png, ...; their places, or their names where there is no DIR to write them to.
std::vector<std::string> write_files(const std::vector<LookFile>& files, std::int64_t step, const std::string& out) {
  std::vector<std::string> places;
  for (const LookFile& file : files) {
    if (out.empty()) {
      places.push_back(file.name);
      continue;
    }
    const fs::path place = fs::path(out) / fmt::format("step-{}", step) / file.name;
    make_directories(place.parent_path());
    atomic_write(place, file.bytes);
    places.push_back(place.string());
  }
  return places;
}

int look(const LookArguments& arguments) {
  const RunSource source = split_source(arguments.source);
  refuse_inside(arguments.csv, source.run, "--csv");
  refuse_inside(arguments.out, source.run, "--out");
  RunLook looked({.run = source.run,
                  .diagnostics = arguments.diagnostics,
                  .options = parse_overrides(arguments.overrides),
                  .data = arguments.training ? LookData::training : LookData::validation,
                  .samples = arguments.samples},
                 catalog());
  LookReport report;
  report.run = source.run.string();
  report.model = looked.config().model.name;
  report.data = arguments.training ? "training" : "validation";
  report.samples = looked.samples();
  report.files_are_written = !arguments.out.empty();
  for (const PluginChoice& choice : looked.config().diagnostics)
    report.diagnostics.push_back({choice.name, catalog().find("diagnostic", choice.name).description,
                                  Registry<Diagnostic>::instance().make(choice.name, choice.options)->numbers()});
  for (const std::int64_t step : steps_at(source.at, source.run, arguments.source)) {
    const LookResult result = looked.at(step);
    report.looks.push_back({step, result.numbers, write_files(result.files, step, arguments.out)});
  }
  if (!arguments.csv.empty()) atomic_write(arguments.csv, look_csv(report));
  if (arguments.json)
    print("{}\n", Lines{look_json(report).dump(2, Json::BadText::replace)});
  else
    print("{}", Layout{look_text(report, use_color(STDOUT_FILENO))});
  return kOk;
}

}  // namespace

void add_look(Command& program) {
  Command verb = program.add_command("look", "what diagnostics see in a run at its checkpoints, layer by layer");
  auto arguments = std::make_shared<LookArguments>();
  verb.option("run", arguments->source,
              "RUN@STEP, RUN@STEP,STEP, RUN@all, RUN@moment (those run.around_moment keeps); RUN: its last checkpoint")
      .required();
  verb.option("--diagnostic", arguments->diagnostics,
              "names separated by commas, or all; when left out those of the run, or else attention")
      .suggests(diagnostic_names);
  verb.option("--set", arguments->overrides, "diagnose.NAME.option=value; repeatable").repeatable();
  verb.option("--samples", arguments->samples, "how many are looked at").positive().shows_default();
  verb.flag("--training", arguments->training, "at the training batch of that step, not at the validation samples");
  verb.flag("--json", arguments->json, "machine-readable");
  verb.option("--csv", arguments->csv, "also write the numbers to this file, one per line");
  verb.option("--out", arguments->out, "a directory for pictures and tensors, of diagnostics that have such");
  verb.runs([=] { return look(*arguments); });
}

}  // namespace eureka::cli
