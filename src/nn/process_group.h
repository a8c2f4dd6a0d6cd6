// The ranks of a run over libtorch's c10d: they meet at a TCPStore and add up by Gloo what is on the host, by NCCL what
// is on CUDA devices. Where one of the two is missing, the other does its part, by way of a copy.
#pragma once

#include <memory>

#include "engine/ranks.h"
#include "nn/rank_connections.h"
#include "nn/torch.h"

namespace eureka {

class ProcessGroup : public Ranks {
 public:
  // Where the tensors to add up will be; called by every rank before it has some. Throws Error(config) when two ranks
  // would share a device that is not the CPU, or nothing adds up there.
  virtual void work_on(const at::Device& device) = 0;

  // Begins to add up over the ranks, in place. Every rank begins the same sums in the same order, and nobody touches
  // `numbers` before finish().
  virtual void begin_sum(const at::Tensor& numbers) = 0;
  virtual void finish() = 0;
};

// Throws as join_ranks() does.
std::unique_ptr<ProcessGroup> join_process_group(const RankPlace& place, const RankConnections& connections = {});

}  // namespace eureka
