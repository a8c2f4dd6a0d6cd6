// eureka condition sweep: condition numbers over planted (q, delta) or over temperatures, for every attention kind.
#include "cli/condition.h"

namespace eureka::cli {
namespace {

struct SweepArguments {
  theory::TeacherSize size;
  std::string temperatures, extra_active, deltas, kinds;
  std::uint64_t seed = 1;
  int seeds = 5;
  int threads = 0;
  ConditionOutput output;
};

int sweep(const SweepArguments& arguments) {
  const bool by_temperature = !arguments.temperatures.empty();
  if (by_temperature && (!arguments.extra_active.empty() || !arguments.deltas.empty()))
    throw Error(ErrorKind::usage, "give either --temperatures or --q and --delta, not both");
  theory::check_size(arguments.size);
  const std::vector<theory::AttentionKind> kinds = parse_kinds(arguments.kinds);
  const auto or_else = [](const std::string& text, const char* usual) { return text.empty() ? usual : text; };
  const std::vector<TeacherPoint> points =
      by_temperature
          ? temperature_points(arguments.size, parse_numbers(arguments.temperatures, "--temperatures"), arguments.seed)
          : planted_points(arguments.size, parse_counts(or_else(arguments.extra_active, "0,4,8,15,20,32"), "--q"),
                           parse_numbers(or_else(arguments.deltas, "1e-2,1e-3,1e-4"), "--delta"), arguments.seed);
  emit(sweep_report(points, kinds, arguments.seeds, threads_or_all(arguments.threads)), arguments.output);
  return kOk;
}

}  // namespace

void add_condition_sweep(Command& condition) {
  Command verb = condition.add_command("sweep", "condition numbers over (q, delta) or temperatures, by attention kind");
  auto arguments = std::make_shared<SweepArguments>();
  verb.option("--q", arguments->extra_active, "active tokens beyond one per example: 0,4,20");
  verb.option("--delta", arguments->deltas, "relative weight of the other tokens: 1e-3,1e-4");
  verb.option("--temperatures", arguments->temperatures, "instead: Gaussian logits of deviation 1/tau");
  verb.option("--kinds", arguments->kinds, "attention kinds to show: softmax,linear; all when left out");
  verb.option("--seed", arguments->seed, "first seed of the data");
  verb.option("--seeds", arguments->seeds, "cases per point, geometric means").between(1, 100000);
  add_size_options(verb, arguments->size);
  add_threads_option(verb, arguments->threads);
  add_output_options(verb, arguments->output);
  verb.runs([=] { return sweep(*arguments); });
}

}  // namespace eureka::cli
