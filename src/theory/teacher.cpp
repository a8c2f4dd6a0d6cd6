#include "theory/teacher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace eureka::theory {
namespace {

constexpr double kJitter = 0.75;  // half-width of the logits around their level

double jitter(RandomStream& random) { return kJitter * (2 * random.uniform() - 1); }

std::vector<Index> shuffled(Index count, RandomStream& random) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(std::span(order));
  return order;
}

std::vector<std::vector<Index>> deal_active(const TeacherSize& size, Index extra, RandomStream& random) {
  std::vector<Index> count(static_cast<std::size_t>(size.examples), 1);
  const std::vector<Index> order = shuffled(size.examples, random);
  for (Index k = 0; k < extra; ++k)
    ++count[static_cast<std::size_t>(order[static_cast<std::size_t>(k % size.examples)])];
  std::vector<std::vector<Index>> active;
  for (const Index n : count) {
    std::vector<Index> tokens = shuffled(size.tokens, random);
    tokens.resize(static_cast<std::size_t>(n));
    active.push_back(std::move(tokens));
  }
  return active;
}

Matrix planted_logits(const TeacherSize& size, const std::vector<std::vector<Index>>& active, double delta,
                      RandomStream& random) {
  Matrix logits(size.examples, size.tokens);
  for (Index i = 0; i < logits.rows(); ++i) {
    for (Index j = 0; j < logits.cols(); ++j) logits(i, j) = std::log(delta) + jitter(random);
    for (const Index j : active[static_cast<std::size_t>(i)]) logits(i, j) = jitter(random);
  }
  return logits.colwise() - logits.rowwise().mean();
}

}  // namespace

void check_size(const TeacherSize& size) {
  const auto at_least_one = [](Index value, const char* what) {
    if (value < 1) throw Error(ErrorKind::usage, fmt::format("{} must be at least 1, not {}", what, value));
  };
  at_least_one(size.examples, "the number of examples N");
  at_least_one(size.tokens, "the number of tokens T");
  at_least_one(size.features, "the number of features d");
  at_least_one(size.outputs, "the number of outputs p");
  if (size.tokens < 2)
    throw Error(ErrorKind::usage, "with T = 1 the only token gets all attention and there is nothing to learn", {},
                "give --tokens 2 or more");
  if (size.examples * size.outputs < size.features)
    throw Error(ErrorKind::usage,
                fmt::format("N p = {} is below d = {}: the Gauss-Newton matrix lacks rank whatever the attention",
                            size.examples * size.outputs, size.features),
                {}, "give more --examples or --outputs, or fewer --features");
}

Matrix normal_matrix(Index rows, Index columns, std::uint64_t seed, const char* name) {
  std::vector<float> draws(static_cast<std::size_t>(rows * columns));
  RandomStream(seed, name).fill_normal(draws);
  return Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(draws.data(), rows, columns)
      .cast<double>();
}

Vector normal_vector(Index size, std::uint64_t seed, const char* name) { return normal_matrix(size, 1, seed, name); }

Teacher gaussian_teacher(const TeacherSize& size, double logit_deviation, std::uint64_t seed) {
  check_size(size);
  const Index rows = size.examples * size.tokens;
  return {{size.tokens, normal_matrix(rows, size.features, seed, "theory keys")},
          normal_matrix(rows, size.outputs, seed, "theory values"),
          logit_deviation * normal_vector(size.features, seed, "theory query").normalized(),
          {}};
}

Teacher planted_teacher(const TeacherSize& size, const Planted& planted, std::uint64_t seed) {
  Teacher teacher = gaussian_teacher(size, 1, seed);
  const Index most = size.examples * (size.tokens - 1);
  if (planted.extra_active < 0 || planted.extra_active > most)
    throw Error(ErrorKind::usage, fmt::format("q = {} active tokens beyond one per example", planted.extra_active), {},
                fmt::format("N (T - 1) = {} is the most there can be", most));
  if (!(planted.delta > 0) || planted.delta > 1)
    throw Error(ErrorKind::usage, fmt::format("delta = {:g}", planted.delta), {},
                "it is the weight of an unseen token relative to a seen one: above 0, at most 1");
  RandomStream random(seed, "theory planted logits");
  teacher.active = deal_active(size, planted.extra_active, random);
  const Matrix logits = planted_logits(size, teacher.active, planted.delta, random);
  const double deviation = std::sqrt((logits.array() - logits.mean()).square().mean());
  teacher.query *= deviation;
  const Eigen::Map<const Vector> wanted(logits.data(), logits.size());
  const Vector excess = (wanted - teacher.data.keys * teacher.query) / teacher.query.squaredNorm();
  teacher.data.keys += excess * teacher.query.transpose();
  return teacher;
}

SharedQueryModel student_of(const Teacher& teacher, const AttentionMap& map) {
  SharedQueryModel model(teacher.data, teacher.values, map);
  model.set_targets(model.outputs(teacher.query));
  return model;
}

}  // namespace eureka::theory
