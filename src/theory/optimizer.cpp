#include "theory/optimizer.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "theory/spectrum.h"

namespace eureka::theory {
namespace {

class GradientDescent final : public Optimizer {
 public:
  explicit GradientDescent(double eta) : eta_(eta) {}
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override { return x - eta_ * g; }

 private:
  double eta_;
};

class HeavyBall final : public Optimizer {
 public:
  HeavyBall(double eta, double beta) : eta_(eta), beta_(beta) {}
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override {
    if (before_.size() == 0) before_ = x;
    Vector next = x - eta_ * g + beta_ * (x - before_);
    before_ = x;
    return next;
  }
  bool memoryless() const override { return false; }

 private:
  double eta_, beta_;
  Vector before_;
};

class EmaMomentum final : public Optimizer {
 public:
  EmaMomentum(double eta, double beta) : eta_(eta), beta_(beta) {}
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override {
    if (mean_.size() == 0) mean_ = Vector::Zero(x.size());
    mean_ = beta_ * mean_ + (1 - beta_) * g;
    return x - eta_ * mean_;
  }
  bool memoryless() const override { return false; }

 private:
  double eta_, beta_;
  Vector mean_;
};

class Adam final : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options) : options_(options), rate_(options.rate) {}
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override {
    if (mean_.size() == 0) mean_ = square_ = Vector::Zero(x.size());
    power1_ *= options_.beta1;
    power2_ *= options_.beta2;
    mean_ = options_.beta1 * mean_ + (1 - options_.beta1) * g;
    square_ = options_.beta2 * square_ + (1 - options_.beta2) * g.cwiseAbs2();
    const auto deviation = (square_.array() / (1 - power2_)).sqrt() + options_.epsilon;
    Vector next = x.array() - rate_ * (mean_.array() / (1 - power1_)) / deviation;
    rate_ *= options_.decay;
    return next;
  }
  bool memoryless() const override { return false; }

 private:
  AdamOptions options_;
  double rate_, power1_ = 1, power2_ = 1;
  Vector mean_, square_;
};

class SignDescent final : public Optimizer {
 public:
  SignDescent(double rate, double decay) : rate_(rate), decay_(decay) {}
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override {
    Vector next = x - rate_ * g.cwiseSign();
    rate_ *= decay_;
    return next;
  }

 private:
  double rate_, decay_;
};

class Preconditioned final : public Optimizer {
 public:
  Preconditioned(const Matrix& metric, double eta) : eta_(eta) {
    const EigenSystem system = eigen_system(metric);
    const double cut = 1e-13 * system.values.maxCoeff();
    const Vector inverse = system.values.unaryExpr([&](double v) { return v > cut ? 1 / v : 0; });
    inverse_ = system.vectors * inverse.asDiagonal() * system.vectors.transpose();
  }
  Vector step(const Problem&, const Vector& x, double, const Vector& g) override { return x - eta_ * (inverse_ * g); }

 private:
  double eta_;
  Matrix inverse_;
};

Vector solve_damped(Eigen::MatrixXd metric, double damping, const Vector& g) {
  metric.diagonal().array() += damping;
  return metric.ldlt().solve(g);
}

class NaturalGradient final : public Optimizer {
 public:
  NaturalGradient(Metric metric, double eta, double damping) : metric_(metric), eta_(eta), damping_(damping) {}
  Vector step(const Problem& problem, const Vector& x, double, const Vector& g) override {
    const Matrix m = metric_ == Metric::fisher ? problem.fisher(x) : problem.attention_gram(x);
    return x - eta_ * solve_damped(m, damping_ * m.trace(), g);
  }

 private:
  Metric metric_;
  double eta_, damping_;
};

class GaussNewton final : public Optimizer {
 public:
  Vector step(const Problem& problem, const Vector& x, double loss, const Vector& g) override {
    const Matrix gn = problem.gauss_newton(x);
    const double scale = gn.trace() / static_cast<double>(x.size());
    double damping = damping_;
    for (int attempt = 0; attempt < 30; ++attempt, damping *= 5) {
      Vector next = x - solve_damped(gn, damping * scale, g);
      if (problem.loss(next) < loss) {
        damping_ = std::max(damping / 5, 1e-12);
        return next;
      }
    }
    return x;
  }

 private:
  double damping_ = 1e-3;
};

}  // namespace

OptimizerPtr gradient_descent(double eta) { return std::make_unique<GradientDescent>(eta); }
OptimizerPtr heavy_ball(double eta, double beta) { return std::make_unique<HeavyBall>(eta, beta); }
OptimizerPtr ema_momentum(double eta, double beta) { return std::make_unique<EmaMomentum>(eta, beta); }
OptimizerPtr adam(const AdamOptions& options) { return std::make_unique<Adam>(options); }
OptimizerPtr sign_descent(double rate, double decay) { return std::make_unique<SignDescent>(rate, decay); }
OptimizerPtr preconditioned(const Matrix& metric, double eta) { return std::make_unique<Preconditioned>(metric, eta); }
OptimizerPtr natural_gradient(Metric metric, double eta, double damping) {
  return std::make_unique<NaturalGradient>(metric, eta, damping);
}
OptimizerPtr gauss_newton() { return std::make_unique<GaussNewton>(); }

Run minimize(const Problem& problem, const Vector& start, Optimizer& optimizer, const RunOptions& options) {
  Run run;
  Vector x = start, gradient;
  for (Index step = 0; step <= options.max_steps; ++step) {
    const double loss = problem.loss_and_gradient(x, gradient);
    if (step == 0) run.initial_loss = loss;
    run.steps = step;
    if (options.keep_curve) run.curve.push_back(loss / run.initial_loss);
    if (!std::isfinite(loss) || loss > 1e3 * run.initial_loss + 1) {
      run.diverged = true;
      run.last_above = step;
      return run;
    }
    if (loss > options.eps * run.initial_loss) {
      run.last_above = step;
    } else if (!run.first_hit) {
      run.first_hit = step;
      if (options.stop_at_hit) return run;
    }
    if (step == options.max_steps) break;
    Vector next = optimizer.step(problem, x, loss, gradient);
    if (optimizer.memoryless() && next == x) break;
    x = std::move(next);
  }
  return run;
}

}  // namespace eureka::theory
