#include "theory/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "theory/rates.h"
#include "theory/softmax_jacobian.h"
#include "theory/value_softmax_model.h"

namespace eureka::theory {
namespace {

constexpr double kStepFactors[] = {1, .5, .25, 2, 1.41, .71, 4, 8, .1, .03};
constexpr double kRates[] = {1, .5, .25, .12, .06, .03, .01, .003, .001};
constexpr double kDecays[] = {.8, .9, .95, .97, .98, .99, .995, .998, .999, .9995};

constexpr int kTwins = 4;
constexpr double kNudge = 1e-7;  // of the data, relative
// Twins that hit within a share of the steps, or a few of them, agree.
constexpr double kShareApart = 0.02;
constexpr Index kStepsApart = 3;

Matrix nudged(const Matrix& data, std::uint64_t seed, int twin) {
  const std::string name = fmt::format("theory race twin {}", twin);
  return data.array() * (1 + kNudge * normal_matrix(data.rows(), data.cols(), seed, name.c_str()).array());
}

RaceTrack track_of(std::string name, std::shared_ptr<const Problem> problem, Vector solution, std::uint64_t seed) {
  RaceTrack track{std::move(name), std::move(problem), std::move(solution), {}, seed};
  const Matrix gn = track.problem->gauss_newton(track.solution);
  track.plain = conditioning(gn);
  track.diagonal = diagonal_conditioning(gn);
  track.fisher = pencil_conditioning(gn, track.problem->fisher(track.solution));
  track.gram = pencil_conditioning(gn, track.problem->attention_gram(track.solution));
  track.gauss_newton_diagonal = gn.diagonal();
  return track;
}

RaceTrack teachers_track(const std::string& name, const Teacher& teacher, std::uint64_t seed) {
  RaceTrack track = track_of(name, std::make_shared<SharedQueryModel>(student_of(teacher, {})), teacher.query, seed);
  for (int twin = 0; twin < kTwins; ++twin) {
    Teacher other = teacher;
    other.data.keys = nudged(teacher.data.keys, seed, twin);
    track.twins.push_back(std::make_shared<SharedQueryModel>(student_of(other, {})));
  }
  return track;
}

// Candidates over multiples of a theoretical step.
std::vector<RaceCandidate> scaled(double eta, const std::function<OptimizerPtr(double)>& make) {
  std::vector<RaceCandidate> list;
  for (const double factor : kStepFactors)
    list.push_back({fmt::format("step x{:g}", factor), [=] { return make(factor * eta); }});
  return list;
}

std::vector<RaceCandidate> decaying(double scale, const std::function<OptimizerPtr(double, double)>& make) {
  std::vector<RaceCandidate> list;
  for (const double rate : kRates)
    for (const double decay : kDecays)
      list.push_back(
          {fmt::format("rate {:.2g} decay {:g}", rate * scale, decay), [=] { return make(rate * scale, decay); }});
  return list;
}

}  // namespace

RaceTrack planted_track(const TeacherSize& size, const Planted& planted, std::uint64_t seed) {
  const Teacher teacher = planted_teacher(size, planted, seed);
  return teachers_track(fmt::format("model A, planted q={} delta={:g}", planted.extra_active, planted.delta), teacher,
                        seed);
}

RaceTrack gaussian_track(const TeacherSize& size, double temperature, std::uint64_t seed) {
  if (!(temperature > 0)) throw Error(ErrorKind::usage, "the temperature must be above 0");
  const Teacher teacher = gaussian_teacher(size, 1 / temperature, seed);
  return teachers_track(fmt::format("model A, Gaussian tau={:g}", temperature), teacher, seed);
}

RaceTrack logits_track(Index tokens, Index outputs, std::uint64_t seed) {
  if (tokens < 2 || outputs < tokens - 1)
    throw Error(ErrorKind::usage, "model C needs T >= 2 tokens and p >= T - 1 outputs", {},
                "else its curvature lacks rank whatever softmax does");
  Vector logits = 1.3 * normal_vector(tokens, seed, "theory logits");
  logits.array() -= logits.mean();
  const Matrix values =
      normal_matrix(outputs, tokens, seed, "theory logit values") / std::sqrt(static_cast<double>(outputs));
  const auto problem_of = [&](const Matrix& v) -> std::shared_ptr<const Problem> {
    const Vector target = v * softmax(logits);
    return std::make_shared<ValueSoftmaxModel>(v, target);
  };
  RaceTrack track = track_of("model C, logits", problem_of(values), logits, seed);
  for (int twin = 0; twin < kTwins; ++twin) track.twins.push_back(problem_of(nudged(values, seed, twin)));
  return track;
}

std::vector<RaceEntry> race_entries(const RaceTrack& track, double eps) {
  const double scale = track.solution.norm() / std::sqrt(static_cast<double>(track.solution.size()));
  const double kappa = track.plain.kappa(), beta = heavy_ball_momentum(kappa);
  const double eta = descent_step(track.plain), ball = heavy_ball_step(track.plain);
  const double ema = ema_stability_limit(0.9) / track.plain.largest;
  const Matrix diagonal = track.gauss_newton_diagonal.asDiagonal();
  const auto worst = [&](const Conditioning& c) { return worst_case_steps(c.kappa(), eps); };

  std::vector<RaceCandidate> averaged, constant_adam;
  for (const double factor : {.9, .7, .5, .3, .1, .05})
    averaged.push_back(
        {fmt::format("step x{:g} of the edge", factor), [=] { return ema_momentum(factor * ema, 0.9); }});
  for (const double rate : kRates)
    constant_adam.push_back({fmt::format("rate {:.2g}", rate * scale), [=] { return adam({.rate = rate * scale}); }});

  return {
      {"GD, 2/(mu+L)", {{"theory", [=] { return gradient_descent(eta); }}}, worst(track.plain), "kappa ln(1/eps)/4"},
      {"GD, tuned", scaled(eta, gradient_descent), worst(track.plain), "kappa ln(1/eps)/4"},
      {"heavy ball, theory",
       {{"theory", [=] { return heavy_ball(ball, beta); }}},
       worst_case_steps(std::sqrt(kappa), eps),
       "sqrt(kappa) ln(1/eps)/4"},
      {"heavy ball, step tuned", scaled(ball, [=](double step) { return heavy_ball(step, beta); }),
       worst_case_steps(std::sqrt(kappa), eps), "sqrt(kappa) ln(1/eps)/4"},
      {"EMA momentum 0.9", averaged, adam_steps(kappa, eps), "max(kappa/19 ln(1/eps)/4, ln(1/eps)/-ln 0.9)"},
      {"diagonal of GN",
       scaled(descent_step(track.diagonal), [=](double step) { return preconditioned(diagonal, step); }),
       worst(track.diagonal), "kappa_D ln(1/eps)/4"},
      {"Adam, constant rate", constant_adam, adam_steps(track.diagonal.kappa(), eps),
       "max(kappa_D/19 ln(1/eps)/4, ln(1/eps)/-ln 0.9)"},
      {"Adam, geometric decay",
       decaying(scale, [](double rate, double decay) { return adam({.rate = rate, .decay = decay}); }),
       {},
       ""},
      {"sign, geometric decay", decaying(scale, sign_descent), {}, ""},
      {"natural gradient F",
       scaled(descent_step(track.fisher), [](double step) { return natural_gradient(Metric::fisher, step); }),
       worst(track.fisher), "kappa(F^-1 GN) ln(1/eps)/4"},
      {"G2 = two factors J",
       scaled(descent_step(track.gram), [](double step) { return natural_gradient(Metric::attention_gram, step); }),
       worst(track.gram), "kappa(G2^-1 GN) ln(1/eps)/4"},
      {"Gauss-Newton (LM)", {{"damped", [] { return gauss_newton(); }}}, {}, ""},
  };
}

namespace {

std::optional<Index> first_hit_of(const Problem& problem, const Vector& start, const RaceCandidate& candidate,
                                  double eps, Index limit) {
  return minimize(problem, start, *candidate.make(), {.eps = eps, .max_steps = limit, .stop_at_hit = true}).first_hit;
}

// Nothing when the twins agree with the hit.
std::optional<TwinHits> compare_twins(const RaceTrack& track, const Vector& start, const RaceCandidate& candidate,
                                      Index hit, double eps, Index limit) {
  TwinHits hits{.earliest = hit, .latest = hit};
  for (const auto& twin : track.twins) {
    const std::optional<Index> other = first_hit_of(*twin, start, candidate, eps, limit);
    hits.earliest = std::min(hits.earliest, other.value_or(hit));
    hits.latest = hits.latest && other ? std::optional(std::max(*hits.latest, *other)) : std::nullopt;
  }
  const Index near = std::max(kStepsApart, static_cast<Index>(kShareApart * static_cast<double>(hit)));
  return hits.latest && *hits.latest - hits.earliest <= near ? std::nullopt : std::optional(hits);
}

// Of a method that never hits.
std::optional<TwinHits> any_twin_hits(const RaceTrack& track, const Vector& start, const RaceEntry& entry, double eps,
                                      Index limit) {
  std::optional<TwinHits> hits;
  for (const RaceCandidate& candidate : entry.candidates)
    for (const auto& twin : track.twins)
      if (const auto hit = first_hit_of(*twin, start, candidate, eps, hits ? hits->earliest : limit))
        hits = TwinHits{.earliest = *hit, .latest = {}};
  return hits;
}

}  // namespace

RaceResult run_entry(const RaceTrack& track, Start start, const RaceEntry& entry, const RaceOptions& options) {
  const bool slow_but_sure = entry.name.starts_with("GD");
  const Index limit = slow_but_sure ? std::max(options.descent_limit, options.horizon) : options.horizon;
  Vector x = Vector::Zero(track.solution.size());
  if (start == Start::near)
    x = track.solution + 0.1 * track.solution.norm() *
                             normal_vector(track.solution.size(), track.seed, "theory race start").normalized();

  RaceResult result{.name = entry.name, .label = "-", .theory = entry.theory, .theory_name = entry.theory_name};
  const RaceCandidate* best = nullptr;
  for (const RaceCandidate& candidate : entry.candidates) {
    // Later candidates need only run until they have lost.
    const Index budget = result.first_hit ? *result.first_hit - 1 : limit;
    const Run run =
        minimize(*track.problem, x, *candidate.make(), {.eps = options.eps, .max_steps = budget, .stop_at_hit = true});
    if (!run.first_hit) continue;
    best = &candidate;
    result.first_hit = run.first_hit;
  }
  if (best == nullptr) {
    result.chaos = any_twin_hits(track, x, entry, options.eps, limit);
    return result;
  }
  result.label = best->label;
  result.chaos = compare_twins(track, x, *best, *result.first_hit, options.eps, limit);
  const Run run =
      minimize(*track.problem, x, *best->make(), {.eps = options.eps, .max_steps = limit, .keep_curve = true});
  if (run.stayed()) result.last_above = run.last_above;
  for (std::size_t i = static_cast<std::size_t>(*run.first_hit); i < run.curve.size(); ++i)
    result.worst_after_hit = std::max(result.worst_after_hit, run.curve[i]);
  return result;
}

}  // namespace eureka::theory
