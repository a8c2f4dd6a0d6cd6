// Whether the tokens of a sample can still be told apart: cosine and effective rank of the residual stream, and whether
// a sequence model repeats its last answer.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/exact_math.h"
#include "diagnostics/attention_heads.h"
#include "diagnostics/small_matrix.h"

namespace eureka {
namespace {

// Products of the tokens of one sample with each other.
SmallMatrix gram_of(const TensorView& stream, std::int64_t sample) {
  const auto tokens = static_cast<std::size_t>(stream.sizes[2]);
  SmallMatrix gram(tokens, tokens);
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const float* a = stream.row(sample, 0, static_cast<std::int64_t>(i));
      const float* b = stream.row(sample, 0, static_cast<std::int64_t>(j));
      double sum = 0;
      for (std::int64_t d = 0; d < stream.sizes[3]; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
      gram(i, j) = gram(j, i) = sum;
    }
  return gram;
}

double mean_cosine(const SmallMatrix& gram) {
  Mean mean;
  for (std::size_t i = 0; i < gram.rows; ++i)
    for (std::size_t j = 0; j < i; ++j) mean.add(gram(i, j) / std::sqrt(gram(i, i) * gram(j, j)));
  return mean.value();
}

// exp of the entropy of the shares of the squared singular values.
double effective_rank(const SmallMatrix& gram) {
  const std::vector<double> squares = symmetric_eigenvalues(gram);
  double whole = 0, entropy = 0;
  for (const double square : squares) whole += std::max(0.0, square);
  for (const double square : squares)
    if (square > 0) entropy -= square / whole * exact::log(square / whole);
  return exact::exp(entropy);
}

class Representation final : public Diagnostic {
 public:
  explicit Representation(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {{"cosine", "cosine",
             "mean over pairs of tokens of a sample, entering each block and behind the last: near 1 is collapsed"},
            {"effective_rank", "directions",
             "exp of the entropy of the shares of squared singular values of a sample's tokens"},
            {"repetition", "share of answers", "sequences: answers of the model equal to its answer before"},
            {"repetition_in_data", "share of answers", "sequences: the same of the labels"}};
  }

  ObservationRequest wants() const override { return {.points = {Point::residual}}; }

  void begin(const LookContext& context) override {
    repetition_ = repetition_in_data_ = {};
    if (context.task != nullptr && context.task->shape().every_position && !context.batch->labels.empty())
      count_repetitions(context);
  }

  void see(const ObservationView& view) override {
    const TensorView& stream = view.value(Point::residual);
    if (!stream.exists() || stream.sizes[2] < 2) return;
    auto& [cosine, rank] = layers_[view.layer];
    for (std::int64_t s = 0; s < view.samples; ++s) {
      const SmallMatrix gram = gram_of(stream, s);
      cosine.add(mean_cosine(gram));
      rank.add(effective_rank(gram));
    }
  }

  void report(NumberRow& row) override {
    for (const auto& [layer, means] : layers_) row.add("cosine", layer, means.first.value());
    for (const auto& [layer, means] : layers_) row.add("effective_rank", layer, means.second.value());
    row.add("repetition/answers", repetition_.value());
    row.add("repetition_in_data/answers", repetition_in_data_.value());
    layers_.clear();
  }

 private:
  // Over neighbors that are both asked for, of the samples that are seen.
  void count_repetitions(const LookContext& context) {
    const TaskShape shape = context.task->shape();
    const Batch& batch = *context.batch;
    const std::vector<float> predictions = context.predictions();
    const auto classes = static_cast<std::size_t>(shape.classes), labels = static_cast<std::size_t>(shape.labels());
    const auto answer = [&](std::size_t index) {
      const auto first = predictions.begin() + static_cast<std::ptrdiff_t>(index * classes);
      return std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first;
    };
    for (std::size_t sample = 0; sample < static_cast<std::size_t>(context.samples); ++sample)
      for (std::size_t position = 1; position < labels; ++position) {
        const std::size_t index = sample * labels + position;
        if (!batch.asks(index) || !batch.asks(index - 1)) continue;
        repetition_.add(answer(index) == answer(index - 1) ? 1 : 0);
        repetition_in_data_.add(batch.labels[index] == batch.labels[index - 1] ? 1 : 0);
      }
  }

  std::map<int, std::pair<Mean, Mean>> layers_;
  Mean repetition_, repetition_in_data_;
};

EUREKA_DIAGNOSTIC("representation", Representation, NoOptions,
                  "whether tokens can be told apart: cosine and effective rank of the residual stream, repetition");

}  // namespace
}  // namespace eureka
