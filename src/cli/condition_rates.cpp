// eureka condition rates: the predicted rate of gradient descent beside the measured one.
#include <cmath>

#include "cli/condition.h"

namespace eureka::cli {
namespace {

struct RatesArguments {
  theory::TeacherSize size{40, 12, 8, 1};
  std::string temperatures, extra_active, deltas;
  std::uint64_t seed = 11;
  int threads = 0;
  RateSettings settings;
  ConditionOutput output;
};

// "4,1,0.25"
std::vector<double> parse_temperatures(const std::string& text) {
  const std::vector<double> temperatures = parse_numbers(text, "--temperatures");
  for (const double tau : temperatures)
    if (!(tau > 0) || !std::isfinite(tau))
      throw Error(ErrorKind::usage, "a temperature must be above 0", "--temperatures", "for example: 4,1,0.25");
  return temperatures;
}

int rates(RatesArguments& arguments) {
  const bool planted = !arguments.extra_active.empty() || !arguments.deltas.empty();
  if (planted && !arguments.temperatures.empty())
    throw Error(ErrorKind::usage, "give either --temperatures or --q and --delta, not both");
  if (planted && (arguments.extra_active.empty() || arguments.deltas.empty()))
    throw Error(ErrorKind::usage, "--q and --delta belong together", {}, "for example: --q 0,4,12 --delta 0.03,0.01");
  theory::check_size(arguments.size);
  arguments.settings.threads = threads_or_all(arguments.threads);
  const std::string temperatures = arguments.temperatures.empty() ? "8,4,2,1,0.5,0.3,0.2" : arguments.temperatures;
  const std::vector<TeacherPoint> points =
      planted ? planted_points(arguments.size, parse_counts(arguments.extra_active, "--q"),
                               parse_numbers(arguments.deltas, "--delta"), arguments.seed)
              : temperature_points(arguments.size, parse_temperatures(temperatures), arguments.seed);
  emit(rates_report(points, arguments.settings), arguments.output);
  return kOk;
}

}  // namespace

void add_condition_rates(Command& condition) {
  Command verb = condition.add_command("rates", "predicted against measured rate of gradient descent");
  auto arguments = std::make_shared<RatesArguments>();
  verb.option("--temperatures", arguments->temperatures, "Gaussian logits of deviation 1/tau: 4,1,0.25");
  verb.option("--q", arguments->extra_active, "planted: active tokens beyond one per example: 0,4,12");
  verb.option("--delta", arguments->deltas, "planted: relative weight of the other tokens: 0.03,0.01");
  verb.option("--eps", arguments->settings.eps, "steps are counted to this fraction of the loss").between(1e-14, 0.9);
  verb.option("--max-kappa", arguments->settings.max_kappa, "beyond, nothing is measured: runs take 16 kappa steps");
  verb.flag("--heavy-ball", arguments->settings.heavy_ball, "instead of gradient descent");
  verb.option("--seed", arguments->seed, "of the data");
  add_size_options(verb, arguments->size);
  add_threads_option(verb, arguments->threads);
  add_output_options(verb, arguments->output);
  verb.runs([=] { return rates(*arguments); });
}

}  // namespace eureka::cli
