// Models A, B and C: worked values, and curvature against finite differences of their own gradients.
#include <Eigen/Dense>

#include "theory/matrix_query_model.h"
#include "theory/spectrum.h"
#include "theory/support.h"
#include "theory/value_softmax_model.h"

namespace eureka::theory {
namespace {

StackedKeys toy_keys() { return {2, matrix_of(4, {1, 0, 0, 1, 1, 1, 1, -1})}; }
const Vector kToyQuery = vector_of({std::log(3), 0});

TEST(SharedQuery, WorkedExample) {  // O10
  SharedQueryModel model(toy_keys(), matrix_of(4, {1, 0, 2, -1}), {});
  model.set_targets(matrix_of(2, {.5, 1}));
  EXPECT_LT(largest_difference(model.attention(kToyQuery, 0).weights, vector_of({.75, .25})), kOracle);
  EXPECT_LT(largest_difference(model.attention(kToyQuery, 1).weights, vector_of({.5, .5})), kOracle);
  const Curvature c = model.curvature(kToyQuery);
  EXPECT_NEAR(c.loss, 5.0 / 64, kOracle);
  EXPECT_LT(largest_difference(c.gradient, vector_of({3, -51}) / 128), kOracle);
  EXPECT_LT(largest_difference(c.gauss_newton, matrix_of(2, {9, -9, -9, 585}) / 512), kOracle);
  EXPECT_LT(largest_difference(c.residual, 3 * matrix_of(2, {-1, 1, 1, -1}) / 256), kOracle);
  EXPECT_LT(largest_difference(model.fisher(kToyQuery), matrix_of(2, {3, -3, -3, 19}) / 32), kOracle);
  EXPECT_LT(largest_difference(model.attention_gram(kToyQuery), matrix_of(2, {9, -9, -9, 73}) / 256), kOracle);
  Vector gradient;
  EXPECT_NEAR(model.loss_and_gradient(kToyQuery, gradient), c.loss, 1e-15);
  EXPECT_LT(largest_difference(gradient, c.gradient), 1e-15);
}

TEST(SharedQuery, WorkedExampleWithTrainedValuesIsIndefinite) {  // O11
  SharedQueryModel model(toy_keys(), 1, {});
  model.set_targets(matrix_of(2, {.5, 1}));
  const Curvature c = model.curvature(vector_of({std::log(3), 0, 1, 2}));
  EXPECT_NEAR(c.loss, 9.0 / 64, kOracle);
  EXPECT_LT(largest_difference(c.gradient, vector_of({-9.0 / 128, 9.0 / 128, 9.0 / 32, 3.0 / 32})), kOracle);
  EXPECT_LT(largest_difference(eigenvalues(c.hessian()),
                               vector_of({-.060769785933, .130436422470, .239034065617, 2.609268047846})),
            kOracle);
}

TEST(ValueSoftmax, WorkedExampleSquaresTheConditionOfTheJacobian) {  // O12
  const Vector a = vector_of({.7, .2, .1});
  const ValueSoftmaxModel model(Matrix::Identity(3, 3), a);
  const Matrix gn = model.gauss_newton(a.array().log());
  EXPECT_LT(largest_difference(eigenvalues(gn), vector_of({0, .015774590059, .111825409941})), kOracle);
  EXPECT_NEAR(conditioning(gn).kappa(), 7.088958224756, kOracle);
  EXPECT_NEAR(conditioning(gn).kappa(), 2.662509760500 * 2.662509760500, 1e-10);
}

TEST(MatrixQuery, WorkedExample) {  // O14
  const StackedKeys data{3, matrix_of(3, {1, 0, 0, 1, 1, 1})};
  MatrixQueryModel model(data, matrix_of(2, {1, -1}), {AttentionKind::softmax, std::sqrt(2)});
  model.set_targets(Matrix::Zero(3, 1));
  const Curvature c = model.curvature(vector_of({1, .5, -.5, 0}));
  EXPECT_NEAR(c.loss, .012208142946357, 1e-14);
  EXPECT_LT(largest_difference(c.gradient, vector_of({.016570436298, -.019493371091, -.031914918244, .028746708367})),
            kOracle);
  EXPECT_LT(
      largest_difference(eigenvalues(c.gauss_newton), vector_of({0, 2.730639536916e-4, .092833640600, .269863514284})),
      kOracle);
  EXPECT_EQ(conditioning(c.gauss_newton).nulls, 1);
  EXPECT_LT(largest_difference(eigenvalues(c.hessian()),
                               vector_of({-.001455238149, -.000386483198, .091559234930, .267106267005})),
            kOracle);
}

void expect_consistent(const Problem& problem, const Vector& at) {
  const Curvature c = problem.curvature(at);
  Vector gradient;
  EXPECT_NEAR(problem.loss_and_gradient(at, gradient), c.loss, 1e-14 * c.loss);
  EXPECT_LT(relative_difference(gradient, c.gradient), 1e-13);
  EXPECT_LT(relative_difference(gradient, difference_gradient(problem, at)), 1e-7);
  EXPECT_LT(relative_difference(problem.gauss_newton(at), c.gauss_newton), 1e-13);
  EXPECT_LT(relative_difference(c.hessian(), difference_hessian(problem, at)), 1e-7);
  EXPECT_GT(eigenvalues(c.gauss_newton)[0], -1e-14 * c.gauss_newton.trace()) << "positive semi-definite";
}

class RandomModels : public testing::Test {
 protected:
  static constexpr Index kN = 5, kT = 6, kD = 4, kP = 2;
  const StackedKeys data_{kT, normal_matrix(kN* kT, kD, 1, "keys")};
  const Matrix values_ = normal_matrix(kN * kT, kP, 1, "values");
  const Matrix targets_ = normal_matrix(kN, kP, 1, "targets");
  const Vector query_ = normal_vector(kD, 1, "query");
};

TEST_F(RandomModels, SharedQueryCurvatureIsTheHessianForEveryKind) {  // O16
  for (const AttentionKind kind : kAttentionKinds) {
    SCOPED_TRACE(name_of(kind));
    const AttentionMap map{kind, .8, 1.3};
    SharedQueryModel given(data_, values_, map);
    given.set_targets(targets_);
    expect_consistent(given, query_);
    SharedQueryModel trained(data_, kP, map);
    trained.set_targets(targets_);
    Vector both(trained.dimension());
    both << query_, normal_vector(kD * kP, 1, "value weights");
    expect_consistent(trained, both);
    if (kind == AttentionKind::linear) {
      EXPECT_EQ(given.curvature(query_).residual.cwiseAbs().maxCoeff(), 0);
    }
  }
}

TEST_F(RandomModels, NormCannotLearnTheScaleOfTheQuery) {  // O16: GN w* = 0
  const Matrix gn = SharedQueryModel(data_, values_, {AttentionKind::norm}).gauss_newton(query_);
  EXPECT_LT((gn * query_).cwiseAbs().maxCoeff(), 1e-13 * gn.cwiseAbs().maxCoeff());
}

TEST_F(RandomModels, FisherIsTheHessianOfKlAndTheGramThatOfTheSquaredDistance) {
  const AttentionMap map{AttentionKind::softmax, .8};
  const SharedQueryModel model(data_, values_, map);
  const auto mean_over_examples = [&](const Vector& w, const auto& distance) {
    double sum = 0;
    for (Index i = 0; i < kN; ++i) {
      const Vector target = log_softmax(data_.of(i) * query_, .8), now = log_softmax(data_.of(i) * w, .8);
      sum += distance(target, now) / kN;
    }
    return sum;
  };
  const auto hessian = [&](const auto& f) {
    const double h = 1e-3;
    Matrix result(kD, kD);
    for (Index i = 0; i < kD; ++i)
      for (Index j = 0; j < kD; ++j) {
        const auto at = [&](double x, double y) {
          Vector w = query_;
          w[i] += x * h;
          w[j] += y * h;
          return f(w);
        };
        result(i, j) = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h);
      }
    return result;
  };
  const Matrix kl = hessian([&](const Vector& w) {
    return mean_over_examples(
        w, [](const Vector& t, const Vector& a) { return (t.array().exp() * (t.array() - a.array())).sum(); });
  });
  const Matrix square = hessian([&](const Vector& w) {
    return mean_over_examples(w, [](const Vector& t, const Vector& a) {
      return 0.5 * (t.array().exp() - a.array().exp()).matrix().squaredNorm();
    });
  });
  EXPECT_LT(relative_difference(model.fisher(query_), kl), 1e-5);
  EXPECT_LT(relative_difference(model.attention_gram(query_), square), 1e-5);
}

TEST_F(RandomModels, ValuesAveragedOverDrawsTurnGaussNewtonIntoTheGram) {  // E_U GN = p G2
  Matrix sum = Matrix::Zero(kD, kD);
  const int draws = 4000;
  for (int i = 0; i < draws; ++i)
    sum += SharedQueryModel(data_, normal_matrix(kN * kT, kP, static_cast<std::uint64_t>(i), "many values"), {})
               .gauss_newton(query_);
  EXPECT_LT(relative_difference(sum / (draws * kP), SharedQueryModel(data_, values_, {}).attention_gram(query_)), .03);
}

TEST_F(RandomModels, TemperatureIsAReparametrization) {  // T5, O16
  const auto kappa = [&](double tau) {
    return conditioning(SharedQueryModel(data_, values_, {AttentionKind::softmax, tau}).gauss_newton(tau * query_))
        .kappa();
  };
  for (const double tau : {.03, .5, 7.0}) EXPECT_NEAR(kappa(tau) / kappa(1), 1, 1e-10);
}

TEST_F(RandomModels, MatrixQueryIsSharedQueryOnFeaturesTimesT) {  // O16
  const Matrix value_weight = normal_matrix(kD, kP, 2, "value weight");
  MatrixQueryModel model(data_, value_weight, {AttentionKind::softmax, std::sqrt(2)});
  model.set_targets(normal_matrix(kN * kT, kP, 2, "targets"));
  const Vector w = normal_vector(kD * kD, 2, "weight");
  expect_consistent(model, w);
  const Curvature b = model.curvature(w), a = model.as_shared_query().curvature(w);
  EXPECT_NEAR(b.loss / a.loss, kT, 1e-12);
  EXPECT_LT(relative_difference(b.gauss_newton, kT * a.gauss_newton), 1e-14);

  // The formula with Kronecker products, formed in full.
  Matrix gn = Matrix::Zero(kD * kD, kD * kD);
  const Eigen::Map<const Matrix> weight(w.data(), kD, kD);
  for (Index i = 0; i < kN; ++i)
    for (Index q = 0; q < kT; ++q) {
      const Matrix x = data_.of(i), u = x * value_weight;
      const Vector attention = softmax(x * (weight.transpose() * x.row(q).transpose()), std::sqrt(2));
      const Matrix inner = x.transpose() * jacobian(attention) * u;
      const Matrix core = inner * inner.transpose(), outer = x.row(q).transpose() * x.row(q);
      for (Index k = 0; k < kD; ++k)
        for (Index l = 0; l < kD; ++l) gn.block(k * kD, l * kD, kD, kD) += outer(k, l) * core / (2.0 * kN);
    }
  EXPECT_LT(relative_difference(b.gauss_newton, gn), 1e-12);
}

TEST_F(RandomModels, FactoredQueryHasItsGaugeDirections) {  // O16: nullity k^2
  const Index rank = 2;
  FactoredQueryModel model(
      MatrixQueryModel(data_, normal_matrix(kD, kP, 3, "value weight"), {AttentionKind::softmax, std::sqrt(2)}), rank);
  const Vector at = normal_vector(model.dimension(), 3, "factors");
  model.set_targets(normal_matrix(kN * kT, kP, 3, "targets"));
  expect_consistent(model, at);
  model.set_targets(model.outputs(at));
  EXPECT_LT(model.loss(at), 1e-28);
  EXPECT_EQ(conditioning(model.curvature(at).hessian()).nulls, rank * rank);
}

TEST(ValueSoftmax, CurvatureIsTheHessian) {
  const Index tokens = 6, outputs = 4;
  const Vector z = normal_vector(tokens, 4, "z"), y = normal_vector(outputs, 4, "y");
  const Matrix v = normal_matrix(outputs, tokens, 4, "v");
  const ValueSoftmaxModel given(v, y, .7), trained(outputs, tokens, y, .7);
  expect_consistent(given, z);
  Vector both(trained.dimension());
  both << z, Eigen::Map<const Vector>(v.data(), v.size());
  expect_consistent(trained, both);
  const Curvature c = given.curvature(z);
  EXPECT_LT((c.hessian() * Vector::Ones(tokens)).cwiseAbs().maxCoeff(), 1e-14) << "a shift of all logits does nothing";
}

TEST(ValueSoftmax, SpectrumIsHeldBetweenThoseOfItsFactors) {
  const Index tokens = 6;
  const Vector z = normal_vector(tokens, 5, "z"), a = softmax(z);
  const Matrix v = normal_matrix(20, tokens, 5, "v");
  const Matrix centering = Matrix::Identity(tokens, tokens).array() - 1.0 / static_cast<double>(tokens);
  const Vector gn = eigenvalues(ValueSoftmaxModel(v, Vector::Zero(20)).gauss_newton(z));
  const Vector j = eigenvalues(jacobian(a)), m = eigenvalues(centering * v.transpose() * v * centering);
  EXPECT_GE(gn[1], j[1] * j[1] * m[1] * (1 - 1e-12));
  EXPECT_LE(gn[tokens - 1], j[tokens - 1] * j[tokens - 1] * m[tokens - 1] * (1 + 1e-12));
}

TEST(ValueSoftmax, OnePseudoInverseIsExponentiatedGradientTwoAreGradientDescentOnTheWeights) {  // 3.2
  const Index tokens = 6;
  const double tau = .7, eta = 1e-3;
  const Vector z = normal_vector(tokens, 6, "z"), a = softmax(z, tau), y = normal_vector(4, 6, "y");
  const Matrix v = normal_matrix(4, tokens, 6, "v");
  const Vector by_weights = v.transpose() * (v * a - y);
  Vector gradient;
  ValueSoftmaxModel(v, y, tau).loss_and_gradient(z, gradient);
  const Vector once = softmax(z - eta * tau * tau * Vector(apply_pseudo_inverse(a, gradient)), tau);
  Vector exponentiated = a.array() * (-eta * by_weights.array()).exp();
  exponentiated /= exponentiated.sum();
  EXPECT_LT(largest_difference(once, exponentiated), 1e-15);

  const double tiny = 1e-7;
  const Vector twice =
      softmax(z - tiny * tau * tau * Vector(apply_pseudo_inverse(a, apply_pseudo_inverse(a, gradient))), tau);
  const Vector projected = by_weights.array() - by_weights.mean();
  EXPECT_LT(relative_difference((twice - a) / tiny, -projected), 1e-4);
}

}  // namespace
}  // namespace eureka::theory
