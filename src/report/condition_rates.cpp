// The predicted rate of gradient descent beside the measured one.
#include <cmath>

#include "report/condition_report.h"
#include "theory/cases.h"
#include "theory/local_rate.h"
#include "theory/rates.h"

namespace eureka {
namespace {

using theory::Index;

theory::Teacher teacher_of(const theory::ConditioningCase& c) {
  return c.planted ? planted_teacher(c.size, *c.planted, c.seed) : gaussian_teacher(c.size, 1 / c.temperature, c.seed);
}

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

LogCurve loss_curve(const std::string& name, const std::vector<double>& losses) {
  LogCurve curve{"log10 of the loss by step, " + name, {}, {}};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    curve.x.push_back(static_cast<double>(i));
    curve.log10_values.push_back(std::log10(losses[i]));
  }
  return curve;
}

}  // namespace

ConditionReport rates_report(const std::vector<TeacherPoint>& points, const RateSettings& settings) {
  const auto results =
      theory::for_cases(settings.threads, points, [&](const TeacherPoint& point) { return measure(point, settings); });
  ResultTable table({{"case", "case", "", Align::left},
                     {"mean_largest_weight", "mean a_max", "{:.3f}"},
                     {"kappa", "kappa", "{:.4g}"},
                     {"predicted", "1-rho theory", "{:.5g}"},
                     {"measured", "1-rho measured", "{:.5g}"},
                     {"ratio", "ratio", "{:.4f}"},
                     {"predicted_steps", "steps theory", "{:.0f}"},
                     {"measured_steps", "steps measured", "{:.0f}"},
                     {"worst_case_steps", "worst case", "{:.0f}"}});
  LogCurve curve;
  double hardest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const theory::LocalRate& rate = results[i].rate;
    const double kappa = rate.spectrum.kappa();
    table.add_row({points[i].name, results[i].largest_weight, kappa, rate.predicted, rate.measured,
                   rate.measured / rate.predicted, cell(rate.predicted_steps), cell(rate.measured_steps),
                   theory::worst_case_steps(settings.heavy_ball ? std::sqrt(kappa) : kappa, settings.eps)});
    if (kappa <= hardest || rate.curve.empty()) continue;
    hardest = kappa;
    curve = loss_curve(points[i].name, rate.curve);
  }
  return {settings.heavy_ball
              ? "Local rate of heavy ball at its best constants: 1 - rho = 2/(sqrt(kappa)+1), asymptotically"
              : "Local rate of gradient descent, step 2/(mu+L): 1 - rho = 2/(kappa+1) at the solution",
          {table},
          curve,
          ""};
}

}  // namespace eureka
