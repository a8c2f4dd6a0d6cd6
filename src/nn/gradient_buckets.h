// Adds up the flat gradient over the ranks while the backward pass still fills it: in pieces from its end, which is
// what a backward pass comes to first.
//
//   GradientBuckets buckets(parameters, group);
//   buckets.begin(); loss.backward(); buckets.finish();         or without backward(), for a rank that has no samples
//
// Ensures: every rank adds up the same pieces in the same order, whatever its backward pass came to first.
#pragma once

#include <vector>

#include "nn/parameter_set.h"
#include "nn/process_group.h"

namespace eureka {

class GradientBuckets {
 public:
  // Both outlive it.
  GradientBuckets(const ParameterSet& parameters, ProcessGroup& group);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void begin();
  void finish();

 private:
  struct Bucket {
    std::int64_t first = 0, count = 0;  // of the numbers
    std::size_t parameters = 0;
    std::size_t missing = 0;  // parameters whose gradient is not complete
  };
  class Hook;
  // Another kind of pointer in later releases.
  using Accumulator = decltype(torch::autograd::impl::grad_accumulator(at::Tensor()));

  void complete(std::size_t parameter);
  // Those that are complete, as long as none before them is missing.
  void send();

  const ParameterSet& parameters_;
  ProcessGroup& group_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // a parameter
  // Autograd keeps them no longer than a pass.
  std::vector<Accumulator> accumulators_;
  std::vector<std::uintptr_t> hooks_;
  std::size_t next_ = 0;
  bool open_ = false;
};

}  // namespace eureka
