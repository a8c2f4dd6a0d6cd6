// Every table of docs/conditioning.md.
#include <cmath>
#include <memory>

#include "report/condition_report.h"
#include "theory/cases.h"
#include "theory/local_rate.h"
#include "theory/matrix_query_model.h"
#include "theory/softmax_jacobian.h"
#include "theory/value_softmax_model.h"

namespace eureka {
namespace {

using theory::Index;
using theory::LocalRate;
using theory::Matrix;
using theory::normal_matrix;
using theory::normal_vector;
using theory::Vector;

constexpr theory::TeacherSize kSweepSize{32, 12, 16, 4};
constexpr theory::TeacherSize kPlantedSize{24, 8, 8, 2};

ResultTable local_rates(std::size_t threads) {
  std::vector<TeacherPoint> points = temperature_points({40, 12, 8, 1}, {8, 4, 2, 1, .7, .5, .4, .3, .25, .2, .17}, 11);
  for (const TeacherPoint& p : planted_points(kPlantedSize, {0, 2, 4, 7, 8, 12, 24, 96}, {.1, .03, .01}, 5))
    points.push_back(p);
  for (const double delta : {.003, .001, .0005}) points.push_back(planted_points(kPlantedSize, {4}, {delta}, 5)[0]);
  points.push_back(planted_points(kPlantedSize, {12}, {.001}, 5)[0]);
  return rates_report(points, {.threads = threads}).tables.front();
}

struct Parametrization {
  std::string name;
  std::shared_ptr<const theory::Problem> problem;
  Vector solution;
};

Vector joined(const Vector& a, const Vector& b) {
  Vector both(a.size() + b.size());
  both << a, b;
  return both;
}

std::vector<Parametrization> parametrizations() {
  constexpr std::uint64_t kSeed = 1;
  constexpr Index kExamples = 24, kTokens = 6, kWidth = 3, kRank = 2;
  const theory::StackedKeys data{kTokens, normal_matrix(kExamples * kTokens, kWidth, kSeed, "theory keys")};
  const Matrix value_weight = normal_matrix(kWidth, kWidth, kSeed, "theory value weights");
  const theory::AttentionMap map{theory::AttentionKind::softmax, std::sqrt(2.0)};
  std::vector<Parametrization> list;
  const auto add = [&](const char* name, auto model, const Vector& solution) {
    model.set_targets(model.outputs(solution));
    list.push_back({name, std::make_shared<decltype(model)>(std::move(model)), solution});
  };
  const theory::MatrixQueryModel full(data, value_weight, map);
  add("B, full W", full, normal_vector(kWidth * kWidth, kSeed, "theory layer weight"));
  add("B, factored W_Q W_K^T", theory::FactoredQueryModel(full, kRank),
      1.2 * normal_vector(2 * kWidth * kRank, kSeed, "theory factors"));
  const Vector w = 1.5 * normal_vector(kWidth, kSeed, "theory query");
  add("A, joint (w, v)", theory::SharedQueryModel(data, 1, {}),
      joined(w, normal_vector(kWidth, kSeed, "theory values")));
  const Matrix values = normal_matrix(kExamples * kTokens, 2, kSeed, "theory values");
  for (const auto kind : {theory::AttentionKind::norm, theory::AttentionKind::sigmoid, theory::AttentionKind::linear})
    add(kind == theory::AttentionKind::norm      ? "A, norm"
        : kind == theory::AttentionKind::sigmoid ? "A, sigmoid"
                                                 : "A, linear",
        theory::SharedQueryModel(data, values, {kind}), w);
  const Vector z = 1.2 * normal_vector(8, kSeed, "theory logits");
  const Matrix v = normal_matrix(16, 8, kSeed, "theory logit values") / 4;
  const Vector y = v * theory::softmax(z);
  list.push_back({"C, z only", std::make_shared<theory::ValueSoftmaxModel>(v, y), z});
  list.push_back({"C, joint (z, V)", std::make_shared<theory::ValueSoftmaxModel>(16, 8, y, 1.0),
                  joined(z, Eigen::Map<const Vector>(v.data(), v.size()))});
  return list;
}

ResultTable other_parametrizations(std::size_t threads) {
  const std::vector<Parametrization> list = parametrizations();
  const auto rates = theory::for_cases(threads, list, [](const Parametrization& p) {
    return theory::measure_local_rate(*p.problem, p.solution, {.stop = 1e-6, .seed = 3});
  });
  ResultTable table({{"problem", "problem", "", Align::left},
                     {"parameters", "parameters", "{:.0f}"},
                     {"nulls", "null directions", "{:.0f}"},
                     {"kappa", "kappa+", "{:.4g}"},
                     {"predicted", "1-rho theory", "{:.5g}"},
                     {"measured", "1-rho measured", "{:.5g}"},
                     {"ratio", "ratio", "{:.4f}"}});
  for (std::size_t i = 0; i < list.size(); ++i)
    table.add_row({list[i].name, static_cast<double>(list[i].solution.size()),
                   static_cast<double>(rates[i].spectrum.nulls), rates[i].spectrum.kappa(), rates[i].predicted,
                   rates[i].measured, rates[i].measured / rates[i].predicted});
  return table;
}

ResultTable start_radius(std::size_t threads) {
  const theory::Teacher teacher = planted_teacher(kPlantedSize, {4, .01}, 5);
  const theory::SharedQueryModel model = student_of(teacher, {});
  const std::vector<double> radii = {1e-5, 1e-4, 1e-3, 1e-2, 3e-2, .1, .3, 1};
  const auto measure = [&](bool cautious) {
    return theory::for_cases(threads, radii, [&](double radius) {
      return theory::measure_local_rate(model, teacher.query,
                                        {.radius = radius, .stop = 1e-6, .eps = 1e-4, .seed = 2, .cautious = cautious});
    });
  };
  const std::vector<LocalRate> bold = measure(false), cautious = measure(true);
  ResultTable table({{"radius", "start radius / norm of w*", "{:g}"},
                     {"best_theory", "step 2/(mu+L): theory", "{:.0f}"},
                     {"best_measured", "measured", "{:.0f}"},
                     {"best_slope_ratio", "tail rate / theory", "{:.3f}"},
                     {"cautious_theory", "step 1/L: theory", "{:.0f}"},
                     {"cautious_measured", "measured", "{:.0f}"},
                     {"cautious_slope_ratio", "tail rate / theory", "{:.3f}"}});
  const auto steps = [](const std::optional<Index>& value) {
    return value ? ResultCell(static_cast<double>(*value)) : ResultCell();
  };
  for (std::size_t i = 0; i < radii.size(); ++i)
    table.add_row({radii[i], steps(bold[i].predicted_steps), steps(bold[i].measured_steps),
                   bold[i].measured / bold[i].predicted, steps(cautious[i].predicted_steps),
                   steps(cautious[i].measured_steps), cautious[i].measured / cautious[i].predicted});
  return table;
}

ResultTable joint_temperature(std::size_t threads) {
  const std::vector<double> temperatures = {.03, .1, .3, .5, 1, 2, 4, 10};
  const auto results = theory::for_cases(threads, temperatures, [](double tau) {
    return theory::measure_joint_conditioning({64, 8, 6, 2}, 2, tau, 7);
  });
  ResultTable table({{"tau", "tau", "{:g}"},
                     {"query", "kappa of w", "{:.6g}"},
                     {"query_ratio", "ratio to tau = 1 (theory 1)", "{:.10f}"},
                     {"values", "kappa of V", "{:.4g}"},
                     {"joint", "kappa of (w, V)", "{:.4g}"}});
  for (std::size_t i = 0; i < temperatures.size(); ++i)
    table.add_row(
        {temperatures[i], results[i].query, results[i].query / results[4].query, results[i].values, results[i].joint});
  return table;
}

// Along t w*: attention sharpens as training goes on.
ResultTable along_the_query() {
  const theory::Teacher teacher = gaussian_teacher(kSweepSize, 4, 2);
  const theory::SharedQueryModel model = student_of(teacher, {});
  ResultTable table({{"t", "t", "{:g}"}, {"kappa", "kappa at t w*", "{:.4g}"}, {"largest", "lam_max", "{:.3g}"}});
  for (const double t : {0.0, .1, .25, .5, .75, 1.0}) {
    const theory::Conditioning c = theory::conditioning(model.gauss_newton(t * teacher.query));
    table.add_row({t, c.kappa(), c.largest});
  }
  return table;
}

ConditionReport planted_sweep(std::size_t threads) {
  return sweep_report(
      planted_points(kSweepSize, {0, 1, 4, 8, 12, 15, 16, 17, 20, 32, 64, 128, 352}, {1e-2, 1e-3, 1e-4}, 1), {}, 5,
      threads);
}

}  // namespace

std::vector<NamedTable> conditioning_tables(std::size_t threads, const std::function<void(const char*)>& progress) {
  std::vector<NamedTable> tables;
  const auto add = [&](const char* name, const ResultTable& table) { tables.push_back({name, table}); };
  progress("local rates");
  add("local rates", local_rates(threads));
  add("other parametrisations", other_parametrizations(threads));
  add("start radius", start_radius(threads));
  progress("sweeps");
  const ConditionReport planted = planted_sweep(threads);
  add("planted sweep", planted.tables[0]);
  add("planted slopes", planted.tables[1]);
  const std::vector<double> temperatures = {8, 4, 2, 1, .7, .5, .35, .25, .2, .15, .1};
  add("temperature sweep", sweep_report(temperature_points(kSweepSize, temperatures, 1), {}, 5, threads).tables[0]);
  add("joint temperature", joint_temperature(threads));
  add("along the query", along_the_query());
  progress("races");
  const std::vector<theory::RaceTrack> tracks = {theory::planted_track(kPlantedSize, {4, .002}, 5),
                                                 theory::gaussian_track(kSweepSize, .12, 3),
                                                 theory::logits_track(12, 48, 1)};
  const ConditionReport race = race_report(tracks, {theory::Start::near, theory::Start::far}, {}, threads);
  add("race conditions", race.tables[1]);
  add("race", race.tables[0]);
  return tables;
}

}  // namespace eureka
