// Gloo: sums of what is on the host.
#include "nn/rank_connections.h"

#ifdef EUREKA_GLOO
// Says that libtorch has it; Debian's says so itself.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>

#include "nn/c10d_backend.h"

namespace eureka {
namespace {

class GlooBackend final : public C10dBackend<c10d::ProcessGroupGloo> {
 public:
  using C10dBackend::C10dBackend;

  bool is_done(c10d::Work& work) override {
    try {
      work.wait(kBetweenLooks);
      return true;
    } catch (const std::exception&) {
      if (work.isCompleted() && !work.isSuccess()) throw;
      return false;  // only late
    }
  }
};

std::unique_ptr<RankBackend> connect_gloo(const RankPlace& place, const RankStore& store) {
  auto options = c10d::ProcessGroupGloo::Options::create(kLongestSum);
  const bool one_machine = place.address == "127.0.0.1" || place.address == "localhost" || place.address == "::1";
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr && *interface != '\0')
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  else
    // Between machines, by the address that this one's own name stands for.
    options->devices.push_back(one_machine ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                           : c10d::ProcessGroupGloo::createDefaultDevice());
  return std::make_unique<GlooBackend>(
      c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, options));
}

}  // namespace

ConnectRanks gloo_connection() { return connect_gloo; }

}  // namespace eureka

#else

namespace eureka {

ConnectRanks gloo_connection() { return {}; }

}  // namespace eureka

#endif
