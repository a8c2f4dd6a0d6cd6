// eureka condition race: optimizers to a fraction eps of the loss, and whether they stay there.
#include "cli/condition.h"

namespace eureka::cli {
namespace {

using theory::RaceTrack;
using theory::Start;

struct RaceArguments {
  std::string problem = "planted", start = "both";
  theory::TeacherSize size{24, 8, 8, 2};
  theory::Planted planted{4, .002};
  double temperature = .12;
  std::uint64_t seed = 5;
  int threads = 0;
  theory::RaceOptions options;
  ConditionOutput output;
};

RaceTrack track_of(const RaceArguments& arguments) {
  if (arguments.problem == "logits")
    return theory::logits_track(arguments.size.tokens, arguments.size.outputs, arguments.seed);
  if (arguments.problem == "gaussian")
    return theory::gaussian_track(arguments.size, arguments.temperature, arguments.seed);
  return theory::planted_track(arguments.size, arguments.planted, arguments.seed);
}

int race(const RaceArguments& arguments) {
  std::vector<Start> starts;
  if (arguments.start != "far") starts.push_back(Start::near);
  if (arguments.start != "near") starts.push_back(Start::far);
  emit(race_report({track_of(arguments)}, starts, arguments.options, threads_or_all(arguments.threads)),
       arguments.output);
  return kOk;
}

}  // namespace

void add_condition_race(Command& condition) {
  Command verb = condition.add_command("race", "optimisers to a fraction of the loss: first hit and last above");
  auto arguments = std::make_shared<RaceArguments>();
  verb.option("--problem", arguments->problem, "planted, gaussian (model A) or logits (model C)")
      .one_of({"planted", "gaussian", "logits"});
  verb.option("--start", arguments->start, "near, far or both").one_of({"near", "far", "both"});
  verb.option("--q", arguments->planted.extra_active, "planted: active tokens beyond one per example");
  verb.option("--delta", arguments->planted.delta, "planted: relative weight of the other tokens");
  verb.option("--temperature", arguments->temperature, "gaussian: logits have deviation 1/tau");
  verb.option("--eps", arguments->options.eps, "the finish, as a fraction of the initial loss").between(1e-20, 0.9);
  verb.option("--horizon", arguments->options.horizon, "steps of every run").between(1, 100000000);
  verb.option("--seed", arguments->seed, "of data and start");
  add_size_options(verb, arguments->size);
  add_threads_option(verb, arguments->threads);
  add_output_options(verb, arguments->output);
  verb.runs([=] { return race(*arguments); });
}

}  // namespace eureka::cli
