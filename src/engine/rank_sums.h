// Whether several processes of a run can add up here, for `eureka doctor`.
//
//   RankSumsAdvice advice = advice_on(load_rank_sums(), sees_cuda_device);
#pragma once

#include <string>

namespace eureka {

// What the torch library was built with: Gloo adds up what is on the host, NCCL what is on CUDA devices.
struct RankSums {
  bool gloo = false;
  bool nccl = false;
};

// Requires: has_torch_library(). Throws as load_torch_facts() does.
RankSums load_rank_sums();

struct RankSumsAdvice {
  std::string text;
  std::string advice;  // empty: nothing is missing
};
RankSumsAdvice advice_on(const RankSums& sums, bool sees_cuda_device);

}  // namespace eureka

extern "C" void eureka_rank_sums(eureka::RankSums& sums);
