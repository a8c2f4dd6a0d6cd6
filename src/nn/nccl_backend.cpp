// NCCL: sums of what is on CUDA devices, one for each rank. Compiled against its headers, and never run yet.
#include "nn/rank_connections.h"

#ifdef EUREKA_NCCL
// Says that libtorch has it.
#ifndef USE_C10D_NCCL
#define USE_C10D_NCCL
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "nn/c10d_backend.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

// A step waits for a few sums: what is lost of a pause here is lost of a step.
constexpr auto kPause = 20us;

class NcclBackend final : public C10dBackend<c10d::ProcessGroupNCCL> {
 public:
  using C10dBackend::C10dBackend;

  // Not by a wait with a limit, which would break off what is late; and not in the device's own, from which nobody
  // comes back once a rank has died.
  bool is_done(c10d::Work& work) override {
    const auto until = std::chrono::steady_clock::now() + kBetweenLooks;
    while (!work.isCompleted()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(kPause);
    }
    if (const std::exception_ptr failure = work.exception()) std::rethrow_exception(failure);
    // What is computed from here on comes after it.
    work.synchronize();
    return true;
  }
};

std::unique_ptr<RankBackend> connect_nccl(const RankPlace& place, const RankStore& store) {
  // Its own watchdog would abort the process, where ours says what has happened.
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", /*overwrite=*/0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kLongestSum;
  // Beside Gloo's words at the same place.
  const RankStore own = c10::make_intrusive<c10d::PrefixStore>("nccl", store);
  return std::make_unique<NcclBackend>(
      c10::make_intrusive<c10d::ProcessGroupNCCL>(own, place.rank, place.size, options));
}

}  // namespace

ConnectRanks nccl_connection() { return connect_nccl; }

}  // namespace eureka

#else

namespace eureka {

ConnectRanks nccl_connection() { return {}; }

}  // namespace eureka

#endif
