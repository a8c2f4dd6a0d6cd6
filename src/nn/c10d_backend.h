// What c10d's backends have in common, for gloo_backend.cpp and nccl_backend.cpp.
#pragma once

#include <chrono>
#include <vector>

#include "nn/rank_backend.h"

namespace eureka {

// No sum is given up for its time: rank 0 may look or write while the others wait. Who has died is found by the watch.
inline constexpr std::chrono::hours kLongestSum{24};
// So long is_done() waits for a sum.
inline constexpr std::chrono::seconds kBetweenLooks{1};

template <class Group>
class C10dBackend : public RankBackend {
 public:
  explicit C10dBackend(c10::intrusive_ptr<Group> group) : group_(std::move(group)) {}

  Work begin_sum(const at::Tensor& numbers) override {
    std::vector<at::Tensor> tensors = {numbers};
    return group_->allreduce(tensors);
  }
  Work begin_share(const at::Tensor& numbers) override {
    std::vector<at::Tensor> tensors = {numbers};
    return group_->broadcast(tensors);
  }
  // NCCL of later releases complains of a group that goes without; 1.13 has no such call.
  void leave() override {
    if constexpr (requires(Group & group) { group.shutdown(); }) group_->shutdown();
  }
  void abandon() override { (void)group_.release(); }

 private:
  c10::intrusive_ptr<Group> group_;
};

}  // namespace eureka
