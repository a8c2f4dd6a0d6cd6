// eureka branch: continue a run from one of its checkpoints, with a change.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/output.h"
#include "cli/offered_words.h"
#include "cli/run_and_show.h"
#include "cli/run_name.h"
#include "cli/shown_number.h"
#include "train/branch.h"

namespace eureka::cli {
namespace {

struct BranchArguments {
  std::string source;
  std::string out;
  std::vector<std::string> overrides;
  bool resume = false;
  ShowOptions show;
};

void read_source(const std::string& text, BranchRequest& request) {
  const RunSource source = split_source(text);
  const std::optional<std::int64_t> step = parse_step(source.at);
  if (!step)
    throw Error(ErrorKind::usage, fmt::format("'{}' names no step of a run", text), {},
                "write RUN@STEP, for example runs/two-step-seed1@1000");
  request.run = source.run;
  request.step = *step;
}

// runs/a@1000 with attention.rule=norm_softmax becomes runs/a-from-1000-norm_softmax.
fs::path default_place(const BranchRequest& request) {
  const ConfigEntries before = to_entries(read_run_config(request.run, catalog()), "");
  const std::string differs =
      settings_name(real_changes(resolve_config(before, catalog()),
                                 resolve_config(merge_entries(before, request.change), catalog()), request.change));
  return fmt::format("{}-from-{}{}{}", (request.run / "").parent_path().string(), request.step,
                     differs.empty() ? "" : "-", differs);
}

// The branch looks at what is shown, beside what the run and the change look at.
void show_too(const std::string& number, BranchRequest& request) {
  ConfigEntries entries = merge_entries(to_entries(read_run_config(request.run, catalog()), ""), request.change);
  if (add_shown(find_shown_number(number), entries)) request.change["diagnose.names"] = entries.at("diagnose.names");
}

int make_and_train(const BranchRequest& request, const ShowOptions& show) {
  const Branch made = create_branch(request, catalog());
  if (!made.new_parameters.empty() && !show.quiet)
    tell("new with this change, so at their initial values: {}\n", fmt::join(made.new_parameters, ", "));
  return run_and_show(made.config, {.directory = request.out, .resume = true, .resume_step = {}}, show);
}

int branch(const BranchArguments& arguments) {
  BranchRequest request;
  read_source(arguments.source, request);
  request.change = parse_overrides(arguments.overrides);
  request.resume = arguments.resume;
  if (!arguments.show.number.empty()) show_too(arguments.show.number, request);
  if (!arguments.out.empty()) {
    request.out = arguments.out;
    return make_and_train(request, arguments.show);
  }
  const RunConfig config = branch_config(request, catalog());
  const fs::path wanted = default_place(request);
  if (arguments.resume) {
    request.out = find_directory(wanted, [&](const fs::path& place) { return holds_run(place, config); });
    return make_and_train(request, arguments.show);
  }
  const ClaimedDirectory claimed(wanted);
  request.out = claimed.path();
  return make_and_train(request, arguments.show);
}

}  // namespace

void add_branch(Command& program) {
  Command verb = program.add_command("branch", "continue a run from a checkpoint with one change");
  auto arguments = std::make_shared<BranchArguments>();
  verb.option("run", arguments->source, "RUN@STEP: a run directory and one of its checkpoints").required();
  verb.option("--set", arguments->overrides, "section.key=value: the change; repeatable")
      .repeatable()
      .suggests(settings);
  verb.option("--out", arguments->out, "directory of the new run; beside the old one when left out");
  verb.flag("--resume", arguments->resume, "continue this branch if it is there already");
  add_show_options(verb, arguments->show);
  verb.runs([=] { return branch(*arguments); });
}

}  // namespace eureka::cli
