// What ranks can add up over: Gloo and NCCL, where this library was built with them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/ranks.h"
#include "nn/torch.h"

namespace c10d {
class Store;
}

namespace eureka {

class RankBackend;
using RankStore = c10::intrusive_ptr<c10d::Store>;
using ConnectRanks = std::function<std::unique_ptr<RankBackend>(const RankPlace&, const RankStore&)>;

// Nothing: its headers were missing.
ConnectRanks gloo_connection();
ConnectRanks nccl_connection();

struct RankConnections {
  ConnectRanks host = gloo_connection();
  ConnectRanks device = nccl_connection();
  // Where numbers of the host are added up if `host` is nothing; else the CUDA device of the local rank.
  std::optional<at::Device> instead_of_host = {};
};

}  // namespace eureka
