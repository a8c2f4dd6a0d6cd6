// eureka condition rates: the predicted rate of gradient descent beside the measured one.
#include <cmath>

#include "cli/condition.h"
#include "theory/cases.h"
#include "theory/local_rate.h"
#include "theory/rates.h"

namespace eureka::cli {
namespace {

using theory::Index;

struct RatesArguments {
  theory::TeacherSize size{40, 12, 8, 1};
  std::string temperatures, extra_active, deltas;
  std::uint64_t seed = 11;
  int threads = 0;
  RateSettings settings;
  ConditionOutput output;
};

struct RatePoint {
  double largest_weight = 0;
  theory::LocalRate rate;
};

double mean_largest_weight(const theory::Teacher& teacher, const theory::SharedQueryModel& model) {
  double sum = 0;
  for (Index i = 0; i < teacher.data.examples(); ++i) sum += model.attention(teacher.query, i).weights.maxCoeff();
  return sum / static_cast<double>(teacher.data.examples());
}

RatePoint measure(const TeacherPoint& point, const RateSettings& settings) {
  const theory::Teacher teacher = teacher_of(point.the_case);
  const theory::SharedQueryModel model = student_of(teacher, {});
  RatePoint result{mean_largest_weight(teacher, model), {}};
  const theory::Conditioning spectrum = theory::conditioning(model.gauss_newton(teacher.query));
  if (spectrum.kappa() > settings.max_kappa) {
    result.rate.spectrum = spectrum;
    result.rate.predicted =
        1 - (settings.heavy_ball ? theory::heavy_ball_rate(spectrum.kappa()) : theory::descent_rate(spectrum.kappa()));
    result.rate.measured = std::nan("");
    return result;
  }
  result.rate = theory::measure_local_rate(model, teacher.query,
                                           {.stop = settings.heavy_ball ? 1e-8 : 1e-7,
                                            .eps = settings.eps,
                                            .seed = point.the_case.seed,
                                            .heavy_ball = settings.heavy_ball,
                                            .keep_curve = true});
  return result;
}

ResultCell cell(const std::optional<Index>& value) {
  return value ? ResultCell(static_cast<double>(*value)) : ResultCell();
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
              : temperature_points(arguments.size, parse_numbers(temperatures, "--temperatures"), arguments.seed);
  const RateReport result = rate_table(points, arguments.settings);
  ConditionReport report{
      arguments.settings.heavy_ball
          ? "Local rate of heavy ball at its best constants: 1 - rho = 2/(sqrt(kappa)+1), asymptotically"
          : "Local rate of gradient descent, step 2/(mu+L): 1 - rho = 2/(kappa+1) at the solution",
      {result.table},
      "",
      ""};
  std::vector<double> steps, logs;
  for (std::size_t i = 0; i < result.hardest_curve.size(); ++i) {
    steps.push_back(static_cast<double>(i));
    logs.push_back(std::log10(result.hardest_curve[i]));
  }
  if (!steps.empty()) report.plot = log_plot("log10 of the loss by step, " + result.hardest_name, steps, logs);
  emit(report, arguments.output);
  return kOk;
}

}  // namespace

RateReport rate_table(const std::vector<TeacherPoint>& points, const RateSettings& settings) {
  const auto results =
      theory::for_cases(settings.threads, points, [&](const TeacherPoint& point) { return measure(point, settings); });
  RateReport report{ResultTable({{"case", "case", "", Align::left},
                                 {"mean_largest_weight", "mean a_max", "{:.3f}"},
                                 {"kappa", "kappa", "{:.4g}"},
                                 {"predicted", "1-rho theory", "{:.5g}"},
                                 {"measured", "1-rho measured", "{:.5g}"},
                                 {"ratio", "ratio", "{:.4f}"},
                                 {"predicted_steps", "steps theory", "{:.0f}"},
                                 {"measured_steps", "steps measured", "{:.0f}"},
                                 {"worst_case_steps", "worst case", "{:.0f}"}}),
                    {},
                    {}};
  double hardest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const theory::LocalRate& rate = results[i].rate;
    const double kappa = rate.spectrum.kappa();
    report.table.add_row({points[i].name, results[i].largest_weight, kappa, rate.predicted, rate.measured,
                          rate.measured / rate.predicted, cell(rate.predicted_steps), cell(rate.measured_steps),
                          theory::worst_case_steps(settings.heavy_ball ? std::sqrt(kappa) : kappa, settings.eps)});
    if (kappa <= hardest || rate.curve.empty()) continue;
    hardest = kappa;
    report.hardest_curve = rate.curve;
    report.hardest_name = points[i].name;
  }
  return report;
}

void add_condition_rates(CLI::App& condition, Action& chosen) {
  CLI::App* verb = condition.add_subcommand("rates", "predicted against measured rate of gradient descent");
  auto arguments = std::make_shared<RatesArguments>();
  verb->add_option("--temperatures", arguments->temperatures, "Gaussian logits of deviation 1/tau: 4,1,0.25");
  verb->add_option("--q", arguments->extra_active, "planted: active tokens beyond one per example: 0,4,12");
  verb->add_option("--delta", arguments->deltas, "planted: relative weight of the other tokens: 0.03,0.01");
  verb->add_option("--eps", arguments->settings.eps, "steps are counted to this fraction of the loss")
      ->check(CLI::Range(1e-14, 0.9));
  verb->add_option("--max-kappa", arguments->settings.max_kappa,
                   "beyond, nothing is measured: runs take 16 kappa steps");
  verb->add_flag("--heavy-ball", arguments->settings.heavy_ball, "instead of gradient descent");
  verb->add_option("--seed", arguments->seed, "of the data");
  add_size_options(*verb, arguments->size);
  add_threads_option(*verb, arguments->threads);
  add_output_options(*verb, arguments->output);
  verb->callback([=, &chosen] { chosen = [=] { return rates(*arguments); }; });
}

}  // namespace eureka::cli
