// The claims about conditioning, each with the slack it was stated with: theorems T1 to T3 and T5 exactly, the measured
// laws as geometric means over five seeds.
#include "theory/cases.h"
#include "theory/conditioning_case.h"
#include "theory/race.h"
#include "theory/rank_starvation.h"
#include "theory/rates.h"
#include "theory/row_spectrum.h"
#include "theory/support.h"
#include "theory/value_softmax_model.h"

namespace eureka::theory {
namespace {

constexpr TeacherSize kSize{32, 12, 16, 4};

ConditioningResult planted_mean(Index q, double delta) {
  std::vector<ConditioningResult> results;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    results.push_back(measure_conditioning({.size = kSize, .planted = Planted{q, delta}, .seed = seed}));
  return mean_of(results);
}

double softmax_kappa(const ConditioningResult& r) { return r.kappa[0]; }

TEST(Conditioning, FallsTwoDecadesPerDecadeOfDeltaOneWithFisherNoneWithTheGram) {  // AT1, AT2, AT3, AT7
  const ConditioningResult at3 = planted_mean(4, 1e-3), at4 = planted_mean(4, 1e-4);
  EXPECT_NEAR(std::log10(softmax_kappa(at4) / softmax_kappa(at3)), 2, .1);
  EXPECT_NEAR(std::log10(at4.kappa_fisher / at3.kappa_fisher), 1, .1);
  EXPECT_NEAR(std::log10(at4.kappa_gram / at3.kappa_gram), 0, .1);
  const auto linear = static_cast<std::size_t>(AttentionKind::linear);
  EXPECT_LT(at3.kappa[linear], 8);
  EXPECT_LT(at4.kappa[linear], 8);
  EXPECT_GT(at4.gap, 100) << "the eigenvalues part exactly at index d - q";
}

TEST(Conditioning, CollapsesWhenActiveTokensReachTheDimension) {  // AT4, AT5
  const ConditioningResult starved = planted_mean(8, 1e-4), fed = planted_mean(20, 1e-4), full = planted_mean(32, 1e-4);
  EXPECT_LT(softmax_kappa(fed) / softmax_kappa(starved), .02);
  EXPECT_GT(full.alignment, .95) << "what remains slow is w* itself";
}

TEST(Conditioning, OneHotEverywhereIsSmallCurvatureNotIllConditioned) {  // AT6
  const ConditioningResult at3 = planted_mean(0, 1e-3), at4 = planted_mean(0, 1e-4);
  EXPECT_GT(softmax_kappa(at4) / softmax_kappa(at3), .8);
  EXPECT_LT(softmax_kappa(at4) / softmax_kappa(at3), 1.5);
  EXPECT_NEAR(std::log10(at3.largest / at4.largest), 2, .2) << "the scale goes as delta^2";
}

TEST(Conditioning, OfSoftmaxDependsOnTheTemperatureOfTheTeacherAndOfNormNotAtAll) {  // AT8, AT9
  const auto norm = static_cast<std::size_t>(AttentionKind::norm);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto at = [&](double tau) { return measure_conditioning({.size = kSize, .temperature = tau, .seed = seed}); };
    const ConditioningResult warm = at(1), cold = at(.1);
    EXPECT_GT(softmax_kappa(cold) / softmax_kappa(warm), 50);
    EXPECT_NEAR(cold.kappa[norm] / warm.kappa[norm], 1, 1e-9);
  }
}

TEST(Conditioning, TeachersHaveZeroLossForEveryKind) {
  for (const Teacher& teacher : {planted_teacher(kSize, {4, 1e-3}, 1), gaussian_teacher(kSize, 2, 1)})
    for (const AttentionKind kind : kAttentionKinds)
      EXPECT_LT(student_of(teacher, {kind}).loss(teacher.query), 1e-28) << name_of(kind);
}

TEST(Conditioning, PlantedLogitsAreWhatWasPlanted) {
  const Teacher teacher = planted_teacher(kSize, {5, 1e-3}, 2);
  Index active = 0;
  for (Index i = 0; i < kSize.examples; ++i) {
    const Vector s = teacher.data.of(i) * teacher.query;
    const auto& seen = teacher.active[static_cast<std::size_t>(i)];
    active += static_cast<Index>(seen.size());
    for (Index j = 0; j < kSize.tokens; ++j) {
      const bool is_active = std::find(seen.begin(), seen.end(), j) != seen.end();
      const double depth = s.maxCoeff() - s[j];
      EXPECT_TRUE(is_active ? depth <= 1.5 : depth >= -std::log(1e-3) - 1.5) << i << " " << j;
    }
  }
  EXPECT_EQ(active, kSize.examples + 5);
}

TEST(Theorem1, BoundsTheSmallestEigenvalues) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, "theorem 1");
    const Index q = random.below(10);
    const double delta = std::pow(10, -1 - 3 * random.uniform());
    const Teacher teacher = planted_teacher({12, 8, 10, 3}, {q, delta}, seed);
    const Vector bounds = starvation_bounds(teacher);
    const Vector values = eigenvalues(student_of(teacher, {}).gauss_newton(teacher.query));
    ASSERT_EQ(bounds.size(), 10 - q);
    for (Index k = 0; k < bounds.size(); ++k) EXPECT_LE(values[k], bounds[k] + 1e-12 * bounds.maxCoeff());
  }
}

TEST(Theorems2And3, PreconditionersAreHeldByTheValues) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Index tokens = 6;
    const Teacher teacher = gaussian_teacher({10, tokens, 5, 12}, .1 + .15 * static_cast<double>(seed), seed);
    const SharedQueryModel model = student_of(teacher, {});
    const Matrix centering = Matrix::Identity(tokens, tokens).array() - 1.0 / static_cast<double>(tokens);
    double alpha = 1e300, beta = 0, smallest = 1e300, largest = 0;
    for (Index i = 0; i < 10; ++i) {
      const Matrix u = centering * teacher.values.middleRows(i * tokens, tokens);
      const Vector mu = eigenvalues(u * u.transpose());
      alpha = std::min(alpha, mu[1]);
      beta = std::max(beta, mu[tokens - 1]);
      const RowSpectrum row(log_softmax(teacher.data.of(i) * teacher.query));
      smallest = std::min(smallest, row.eigenvalue(1));
      largest = std::max(largest, row.eigenvalue(tokens - 1));
    }
    const Matrix gn = model.gauss_newton(teacher.query);
    const Conditioning gram = pencil_conditioning(gn, model.attention_gram(teacher.query));
    EXPECT_GE(gram.smallest, alpha * (1 - 1e-9));
    EXPECT_LE(gram.largest, beta * (1 + 1e-9));
    const Conditioning fisher = pencil_conditioning(gn, model.fisher(teacher.query));
    EXPECT_GE(fisher.smallest, alpha * smallest * (1 - 1e-9));
    EXPECT_LE(fisher.largest, beta * largest * (1 + 1e-9));
  }
}

TEST(Theorem5, TemperatureOnlyRebalancesTheJointProblem) {
  const TeacherSize size{64, 8, 6, 2};
  const double reference = measure_joint_conditioning(size, 2, 1, 7).query;
  for (const double tau : {.03, .3, 2.0, 10.0}) {
    const JointConditioning c = measure_joint_conditioning(size, 2, tau, 7);
    EXPECT_NEAR(c.query / reference, 1, 1e-10);
    EXPECT_GE(c.joint, std::max(c.query, c.values) * (1 - 1e-9));
  }
}

TEST(DataScale, SoftmaxPartsTheBlocksAndLinearAttentionDoesNot) {  // AT12
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const LayerBlocks soft = scale_exponents(AttentionKind::softmax, {4, 6, 4, 3}, .05, .1, seed);
    EXPECT_NEAR(soft.query_key, 6, .05);
    EXPECT_NEAR(soft.value, 2, .05);
    const LayerBlocks linear = scale_exponents(AttentionKind::linear, {4, 6, 4, 3}, .05, .1, seed);
    EXPECT_NEAR(linear.query_key, 6, .05);
    EXPECT_NEAR(linear.value, 6, .05);
  }
}

const RaceEntry& entry_named(const std::vector<RaceEntry>& entries, const std::string& name) {
  for (const RaceEntry& entry : entries)
    if (entry.name == name) return entry;
  throw std::logic_error("no entry " + name);
}

TEST(Race, TwoFactorsBeatOneBeatNoneNearTheSolution) {  // AT13
  for (const RaceTrack& track :
       {planted_track({24, 8, 8, 2}, {4, .002}, 5), gaussian_track(kSize, .12, 3), logits_track(12, 48, 1)}) {
    SCOPED_TRACE(track.name);
    const std::vector<RaceEntry> entries = race_entries(track, 1e-8);
    const auto hit = [&](const char* name) {
      const RaceResult result = run_entry(track, Start::near, entry_named(entries, name), {.horizon = 4000});
      EXPECT_TRUE(result.first_hit) << name;
      EXPECT_TRUE(result.last_above) << name << " stays";
      return static_cast<double>(result.first_hit.value_or(1000000));
    };
    const double gram = hit("G2 = two factors J"), fisher = hit("natural gradient F"), descent = hit("GD, 2/(mu+L)");
    EXPECT_LT(gram, fisher);
    EXPECT_LT(fisher, descent);
    EXPECT_LE(gram, 2 * worst_case_steps(track.gram.kappa(), 1e-8));
    EXPECT_LE(hit("Gauss-Newton (LM)"), 20);
  }
}

TEST(Race, TellsAFirstHitOfChaosFromOneThatStands) {
  const RaceTrack track = planted_track({24, 8, 8, 2}, {4, .002}, 5);
  const std::vector<RaceEntry> entries = race_entries(track, 1e-8);
  const auto run = [&](const char* name) {
    return run_entry(track, Start::near, entry_named(entries, name), {.horizon = 4000});
  };
  const RaceResult chaotic = run("heavy ball, theory"), calm = run("heavy ball, step tuned");
  ASSERT_TRUE(chaotic.first_hit && chaotic.chaos);
  EXPECT_TRUE(!chaotic.chaos->latest || *chaotic.chaos->latest > 2 * chaotic.chaos->earliest) << "far apart";
  EXPECT_TRUE(calm.first_hit);
  EXPECT_FALSE(calm.chaos);
}

TEST(Race, TwinsAreTheSameProblemButForTheEighthDigit) {
  for (const RaceTrack& track : {planted_track({24, 8, 8, 2}, {4, .002}, 5), logits_track(12, 48, 1)}) {
    ASSERT_EQ(track.twins.size(), 4U);
    const Vector away = track.solution * 0.9;
    const double loss = track.problem->loss(away);
    for (const auto& twin : track.twins) {
      EXPECT_NEAR(twin->loss(track.solution), 0, 1e-20) << "the solution is still one";
      EXPECT_NE(twin->loss(away), loss);
      EXPECT_NEAR(twin->loss(away), loss, 1e-5 * loss);
    }
  }
}

TEST(Race, RecordsThatAMethodHitsAndLeavesAgain) {
  // A loss that rises again after the hit: heavy ball on one coordinate overshoots.
  const Matrix v = Matrix::Identity(2, 2);
  const ValueSoftmaxModel model(v, softmax(vector_of({.5, -.5})));
  const OptimizerPtr ball = heavy_ball(1, .95);
  const theory::Run run = minimize(model, vector_of({1, -1}), *ball, {.eps = 1e-2, .max_steps = 3000});
  ASSERT_TRUE(run.first_hit && run.last_above);
  EXPECT_GT(*run.last_above, *run.first_hit);
  EXPECT_TRUE(run.stayed());
}

TEST(Cases, GiveTheSameForEveryNumberOfThreads) {
  std::vector<ConditioningCase> cases;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    cases.push_back({.size = {12, 6, 5, 2}, .planted = Planted{3, 1e-2}, .seed = seed});
  const auto kappas = [&](std::size_t threads) {
    std::vector<double> list;
    for (const ConditioningResult& r : for_cases(threads, cases, measure_conditioning)) {
      list.insert(list.end(), r.kappa.begin(), r.kappa.end());
      list.push_back(r.kappa_gram);
    }
    return list;
  };
  EXPECT_EQ(kappas(1), kappas(3));
}

}  // namespace
}  // namespace eureka::theory
