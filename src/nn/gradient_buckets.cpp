#include "nn/gradient_buckets.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

namespace eureka {
namespace {

// A quarter of a million numbers: a megabyte takes longer to add up than to begin.
constexpr std::int64_t kBucket = std::int64_t{1} << 18;

}  // namespace

class GradientBuckets::Hook final : public torch::autograd::FunctionPostHook {
 public:
  Hook(GradientBuckets& buckets, std::size_t parameter) : buckets_(buckets), parameter_(parameter) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    buckets_.complete(parameter_);
    return outputs;
  }

 private:
  GradientBuckets& buckets_;
  std::size_t parameter_;
};

GradientBuckets::GradientBuckets(const ParameterSet& parameters, ProcessGroup& group)
    : parameters_(parameters), group_(group), bucket_of_(parameters.specs().size()) {
  std::int64_t end = parameters.gradients().numel();
  for (std::size_t i = parameters.specs().size(); i-- > 0;) {
    if (buckets_.empty() || buckets_.back().count >= kBucket) buckets_.push_back({end, 0, 0, 0});
    const std::int64_t size = parameters.specs()[i].size();
    Bucket& bucket = buckets_.back();
    bucket.first = end -= size;
    bucket.count += size;
    ++bucket.parameters;
    bucket_of_[i] = buckets_.size() - 1;
  }
  for (std::size_t i = 0; i < parameters.leaves().size(); ++i) {
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters.leaves()[i]));
    hooks_.push_back(accumulators_.back()->add_post_hook(std::make_unique<Hook>(*this, i)));
  }
}

GradientBuckets::~GradientBuckets() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) accumulators_[i]->del_post_hook(hooks_[i]);
}

void GradientBuckets::begin() {
  for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters;
  next_ = 0;
  open_ = true;
}

void GradientBuckets::complete(std::size_t parameter) {
  if (!open_) return;
  --buckets_[bucket_of_[parameter]].missing;
  send();
}

void GradientBuckets::send() {
  for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_)
    group_.begin_sum(parameters_.gradients().narrow(0, buckets_[next_].first, buckets_[next_].count));
}

void GradientBuckets::finish() {
  // Of parameters that the loss does not depend on nobody hears.
  for (Bucket& bucket : buckets_) bucket.missing = 0;
  send();
  open_ = false;
  group_.finish();
}

}  // namespace eureka
