// The ranks of a run over libtorch's c10d: they meet at a TCPStore and add up by Gloo.
#pragma once

#include <memory>

#include "engine/ranks.h"
#include "nn/torch.h"

namespace eureka {

class ProcessGroup : public Ranks {
 public:
  // Begins to add up over the ranks, in place. Every rank begins the same sums in the same order, and nobody touches
  // `numbers` before finish().
  virtual void begin_sum(const at::Tensor& numbers) = 0;
  virtual void finish() = 0;
};

// Whether this library was built with Gloo's headers.
bool has_process_groups();

// Throws as join_ranks() does.
std::unique_ptr<ProcessGroup> join_process_group(const RankPlace& place);

}  // namespace eureka
