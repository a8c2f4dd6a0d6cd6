#include "engine/rank_sums.h"

namespace eureka {
namespace {

constexpr const char* kHowToHaveGloo = "apt-get install libgloo-dev, then make build (docs/ranks.md)";
constexpr const char* kHowToHaveNccl =
    "make build TORCH=DIR with a libtorch for CUDA, nccl.h and CUDA's headers (docs/ranks.md)";

}  // namespace

RankSumsAdvice advice_on(const RankSums& sums, bool sees_cuda_device) {
  if (sums.gloo && sums.nccl) return {"a run may have several: Gloo on the CPU, NCCL on CUDA devices", ""};
  if (sums.gloo && !sees_cuda_device) return {"a run may have several: Gloo on the CPU", ""};
  if (sums.gloo)
    return {"a run may have several, by Gloo: on CUDA devices it adds up by way of the CPU", kHowToHaveNccl};
  if (sums.nccl && sees_cuda_device)
    return {"a run may have several on CUDA devices, by NCCL; one on the CPU", kHowToHaveGloo};
  if (sums.nccl)
    return {"a run has one: NCCL is built in, but there is no CUDA device, and Gloo is not", kHowToHaveGloo};
  return {"a run has one: neither Gloo nor NCCL is built in", sees_cuda_device ? kHowToHaveNccl : kHowToHaveGloo};
}

}  // namespace eureka
