// How ranks add up and share: one of c10d's backends, Gloo for memory of the host, NCCL for that of CUDA devices.
//
//   std::unique_ptr<RankBackend> gloo = gloo_connection()(place, store);     called by every rank
//   RankBackend::Work work = gloo->begin_sum(numbers);
//   while (!gloo->is_done(*work)) ... look whether somebody has died
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "nn/torch.h"

namespace eureka {

class RankBackend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;

  virtual ~RankBackend() = default;

  // In place, and in the same order on every rank. Nobody touches `numbers` before it is done.
  virtual Work begin_sum(const at::Tensor& numbers) = 0;
  // What rank 0 has.
  virtual Work begin_share(const at::Tensor& numbers) = 0;
  // Waits for it, a second at most. Throws what it ended with where that is no success.
  virtual bool is_done(c10d::Work& work) = 0;
  // The run has ended, for all.
  virtual void leave() {}
  // Somebody has died, for whom its threads may wait for ever: they are left to themselves.
  virtual void abandon() = 0;
};

}  // namespace eureka
