// Steps of the reference engine over several processes: each computes its share of the batch, and what the shares give
// is added up.
#include <algorithm>
#include <array>

#include "nn/reference_engine.h"

namespace eureka {
namespace {

// The loss, and the accuracy as a fraction; then the norm of the gradient, which rank 0 says.
using SharedNumbers = std::array<double, 4>;

SharedNumbers with_share(SharedNumbers numbers, const std::vector<at::Tensor>& share) {
  const std::vector<double> home = brought_home(share);
  std::copy(home.begin(), home.end(), numbers.begin());
  return numbers;
}

double accuracy_in(const SharedNumbers& numbers) { return numbers[1] / numbers[2]; }

}  // namespace

const Batch& ReferenceEngine::own_share(const Batch& batch, std::int64_t& first) {
  const BatchShare share = share_of(batch.samples, group_->place().rank, group_->place().size);
  first = share.first;
  take_share(batch, share, own_share_);
  return own_share_;
}

std::vector<at::Tensor> ReferenceEngine::share_of_numbers(const at::Tensor& loss, const at::Tensor& predictions,
                                                          const Answers& answers) const {
  const at::Tensor rows = predictions.detach().reshape({-1, config_.shape.classes});
  if (config_.shape.loss != LossKind::squared)
    return {loss, rows.argmax(-1).eq(answers.labels).sum(),
            at::full({}, answers.count, tensor_options_.dtype(at::kDouble))};
  const at::Tensor targets = answers.asked_for(answers.targets).to(at::kDouble);
  const at::Tensor squares = targets.square().sum();
  return {loss, squares - (answers.asked_for(rows).to(at::kDouble) - targets).square().sum(), squares};
}

StepResult ReferenceEngine::gradient_of_all(const Batch& batch, std::int64_t step, std::int64_t denominator) {
  if (denominator == 0)
    denominator =
        static_cast<std::int64_t>(batch.asked_count(static_cast<std::size_t>(batch.samples * config_.shape.labels())));
  ForwardContext context = context_at(step, true);
  const Answers answers = answers_of(own_share(batch, context.first_sample));
  SharedNumbers numbers{};
  parameters_->zero_gradients();
  buckets_->begin();
  std::vector<at::Tensor> own;
  // A share may be empty, or ask for nothing.
  if (answers.count > 0) {
    const at::Tensor predictions = forward(own_share_, context);
    const at::Tensor loss = loss_of(predictions, answers, config_.label_smoothing) *
                            (static_cast<double>(answers.count) / static_cast<double>(denominator));
    loss.backward();
    own = share_of_numbers(loss, predictions, answers);
  }
  buckets_->finish();
  if (group_->place().leads()) numbers[3] = brought_home({parameters_->gradients().norm()})[0];
  if (!own.empty()) numbers = with_share(numbers, own);
  group_->add_up(numbers);
  return {.loss = numbers[0], .accuracy = accuracy_in(numbers), .gradient_norm = numbers[3]};
}

Evaluation ReferenceEngine::evaluate_all(const Batch& batch, std::int64_t step) {
  const auto whole =
      static_cast<double>(batch.asked_count(static_cast<std::size_t>(batch.samples * config_.shape.labels())));
  ForwardContext context = context_at(step, false);
  const Answers answers = answers_of(own_share(batch, context.first_sample));
  SharedNumbers numbers{};
  if (answers.count > 0) {
    const at::Tensor predictions = forward(own_share_, context);
    const at::Tensor loss = loss_of(predictions, answers, 0) * (static_cast<double>(answers.count) / whole);
    numbers = with_share(numbers, share_of_numbers(loss, predictions, answers));
  }
  group_->add_up(numbers);
  return {.loss = numbers[0], .accuracy = accuracy_in(numbers)};
}

}  // namespace eureka
