#include "theory/conditioning_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/median.h"
#include "theory/matrix_query_model.h"
#include "theory/rank_starvation.h"
#include "theory/row_spectrum.h"
#include "theory/softmax_jacobian.h"
#include "theory/spectrum.h"

namespace eureka::theory {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void add_row_measures(const Teacher& teacher, ConditioningResult& result) {
  std::vector<double> log_kappas;
  for (Index i = 0; i < teacher.data.examples(); ++i) {
    const Vector log_a = log_softmax(teacher.data.of(i) * teacher.query);
    log_kappas.push_back(RowSpectrum(log_a).log_kappa());
    result.mean_largest_weight += std::exp(log_a.maxCoeff()) / static_cast<double>(teacher.data.examples());
  }
  result.median_log_kappa_row = median(std::move(log_kappas));
}

void add_planted_measures(const ConditioningCase& c, const Teacher& teacher, const Vector& values,
                          ConditioningResult& result) {
  result.gap = result.starvation_bound = result.small_per_row = kNaN;
  if (!c.planted) return;
  const Index d = c.size.features, q = c.planted->extra_active;
  result.small_per_row =
      static_cast<double>(c.size.tokens - 1) - static_cast<double>(q) / static_cast<double>(c.size.examples);
  if (q >= d) return;
  if (q > 0) result.gap = values[d - q] / values[d - q - 1];
  result.starvation_bound = starvation_bounds(teacher)[0];
}

}  // namespace

ConditioningResult measure_conditioning(const ConditioningCase& c) {
  if (!(c.temperature > 0))
    throw Error(ErrorKind::usage, "a temperature must be above 0", {}, "for example: --temperatures 4,1,0.25");
  const Teacher teacher =
      c.planted ? planted_teacher(c.size, *c.planted, c.seed) : gaussian_teacher(c.size, 1 / c.temperature, c.seed);
  ConditioningResult result;
  for (const AttentionKind kind : kAttentionKinds) {
    const SharedQueryModel model(teacher.data, teacher.values, {kind});
    const Matrix gn = model.gauss_newton(teacher.query);
    const EigenSystem system = eigen_system(gn);
    result.kappa[static_cast<std::size_t>(kind)] = conditioning(system.values).kappa();
    if (kind != AttentionKind::softmax) continue;
    result.largest = system.values[system.values.size() - 1];
    result.smallest = system.values[0];
    result.kappa_fisher = pencil_conditioning(gn, model.fisher(teacher.query)).kappa();
    result.kappa_gram = pencil_conditioning(gn, model.attention_gram(teacher.query)).kappa();
    result.alignment = std::abs(system.vectors.col(0).dot(teacher.query)) / teacher.query.norm();
    result.kappa_across = c.size.features > 1 ? conditioning_across(gn, teacher.query).kappa() : kNaN;
    add_planted_measures(c, teacher, system.values, result);
  }
  add_row_measures(teacher, result);
  return result;
}

ConditioningResult mean_of(const std::vector<ConditioningResult>& results) {
  EUREKA_CHECK(!results.empty(), "a mean of nothing");
  const double n = static_cast<double>(results.size());
  ConditioningResult mean;
  const auto arithmetic = [&](double ConditioningResult::*member) {
    for (const ConditioningResult& r : results) mean.*member += r.*member / n;
  };
  const auto geometric = [&](double ConditioningResult::*member) {
    for (const ConditioningResult& r : results) mean.*member += std::log(r.*member) / n;
    mean.*member = std::exp(mean.*member);
  };
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (const ConditioningResult& r : results) mean.kappa[kind] += std::log(r.kappa[kind]) / n;
    mean.kappa[kind] = std::exp(mean.kappa[kind]);
  }
  for (const auto member :
       {&ConditioningResult::largest, &ConditioningResult::smallest, &ConditioningResult::kappa_fisher,
        &ConditioningResult::kappa_gram, &ConditioningResult::kappa_across, &ConditioningResult::gap,
        &ConditioningResult::starvation_bound})
    geometric(member);
  for (const auto member : {&ConditioningResult::alignment, &ConditioningResult::mean_largest_weight,
                            &ConditioningResult::median_log_kappa_row, &ConditioningResult::small_per_row})
    arithmetic(member);
  return mean;
}

JointConditioning measure_joint_conditioning(const TeacherSize& size, double logit_deviation, double temperature,
                                             std::uint64_t seed) {
  const Teacher teacher = gaussian_teacher(size, logit_deviation, seed);
  const Index d = size.features, values = d * size.outputs;
  const SharedQueryModel model(teacher.data, size.outputs, {AttentionKind::softmax, temperature});
  Vector at(d + values);
  at << temperature * teacher.query, normal_vector(values, seed, "theory value weights");
  const Matrix gn = model.gauss_newton(at);
  return {conditioning(Matrix(gn.topLeftCorner(d, d))).kappa(),
          conditioning(Matrix(gn.bottomRightCorner(values, values))).kappa(), conditioning(gn).kappa()};
}

LayerBlocks layer_blocks(AttentionKind kind, const TeacherSize& size, double sigma, std::uint64_t seed) {
  const Index d = size.features;
  const StackedKeys data{size.tokens,
                         sigma * normal_matrix(size.examples * size.tokens, d, seed, "theory layer tokens")};
  const Matrix value_weight = normal_matrix(d, size.outputs, seed, "theory layer values");
  const Vector weight = normal_vector(d * d, seed, "theory layer weight");
  const MatrixQueryModel model(data, value_weight, {kind, std::sqrt(static_cast<double>(d))});
  // Every output has the same V block; for one of them it is the gram of the mean tokens.
  const SharedQueryModel& rows = model.as_shared_query();
  Matrix value = Matrix::Zero(d, d);
  for (Index row = 0; row < rows.data().examples(); ++row) {
    const Vector mean = data.of(row / size.tokens).transpose() * rows.attention(weight, row).weights;
    value += mean * mean.transpose();
  }
  return {model.gauss_newton(weight).norm(), value.norm()};
}

LayerBlocks scale_exponents(AttentionKind kind, const TeacherSize& size, double from, double to, std::uint64_t seed) {
  if (!(from > 0) || !(to > 0) || from == to)
    throw Error(ErrorKind::usage, "an exponent needs two different scales above 0", {},
                "for example: --scales 0.05,0.1");
  const LayerBlocks a = layer_blocks(kind, size, from, seed), b = layer_blocks(kind, size, to, seed);
  const double octaves = std::log(to / from);
  return {std::log(b.query_key / a.query_key) / octaves, std::log(b.value / a.value) / octaves};
}

}  // namespace eureka::theory
