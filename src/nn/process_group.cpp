#include "nn/process_group.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"

#ifdef EUREKA_GLOO
// Says that libtorch has it; Debian's says so itself.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "nn/rank_watch.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A scheduler may start the last of many processes minutes after the first.
constexpr auto kPatienceToMeet = 5min;
// No sum is given up for its time: rank 0 may look or write while the others wait. Who has died is found by the watch.
constexpr auto kLongestSum = 24h;
constexpr auto kBetweenLooks = 1s;
constexpr auto kPatienceToLeave = 20s;

StorePointer open_store(const RankPlace& place, bool first) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = first && place.leads();
  options.waitWorkers = first;
  options.numWorkers = static_cast<std::size_t>(place.size);
  options.timeout = kPatienceToMeet;
  return c10::make_intrusive<c10d::TCPStore>(place.address, options);
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> connect(const RankPlace& place, const StorePointer& store) {
  auto options = c10d::ProcessGroupGloo::Options::create(kLongestSum);
  const bool one_machine = place.address == "127.0.0.1" || place.address == "localhost" || place.address == "::1";
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr && *interface != '\0')
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  else
    // Between machines, by the address that this one's own name stands for.
    options->devices.push_back(one_machine ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                           : c10d::ProcessGroupGloo::createDefaultDevice());
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, options);
}

// Without addresses in the source and backtraces.
std::string essence(const std::exception& failure) {
  const auto* torch = dynamic_cast<const c10::Error*>(&failure);
  std::string text = torch != nullptr ? torch->what_without_backtrace() : failure.what();
  text = text.substr(0, text.find('\n'));
  if (text.starts_with("[")) text = text.substr(text.find("] ") + 2);
  return text;
}

class GlooGroup final : public ProcessGroup {
 public:
  explicit GlooGroup(const RankPlace& place) : place_(place) {
    try {
      store_ = open_store(place, true);
      group_ = connect(place, store_);
      watch_ = std::make_unique<RankWatch>(place, open_store(place, false));
    } catch (const std::exception& failure) {
      throw Error(ErrorKind::failed,
                  fmt::format("rank {} cannot meet the others at {}:{}: {}", place.rank, place.address, place.port,
                              essence(failure)),
                  {},
                  fmt::format("all {} processes must be told the same address and port, and reach them", place.size));
    }
  }

  ~GlooGroup() override {
    // Its threads may wait for somebody who has died, and would be waited for.
    if (!left_) (void)group_.release();
  }

  const RankPlace& place() const override { return place_; }

  void begin_sum(const at::Tensor& numbers) override {
    std::vector<at::Tensor> tensors = {numbers};
    begun_.push_back(group_->allreduce(tensors));
  }

  void finish() override {
    for (const auto& work : begun_) wait(work);
    begun_.clear();
  }

  void add_up(std::span<double> numbers) override {
    begin_sum(at::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, at::kDouble));
    finish();
  }

  void share(std::span<float> numbers) override { share(numbers.data(), numbers.size(), at::kFloat); }

  void share(std::string& text) override {
    auto size = static_cast<std::int64_t>(text.size());
    share(&size, 1, at::kLong);
    text.resize(static_cast<std::size_t>(size));
    share(text.data(), text.size(), at::kByte);
  }

  void leave() override {
    watch_->stop();
    if (!place_.leads()) {
      store_->add("left", 1);
    } else {
      // The store is ours: it goes when nobody needs it any more.
      const auto until = std::chrono::steady_clock::now() + kPatienceToLeave;
      while (store_->add("left", 0) < place_.size - 1 && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(5ms);
    }
    left_ = true;
  }

 private:
  void share(void* data, std::size_t count, at::ScalarType type) {
    if (count == 0) return;
    std::vector<at::Tensor> tensors = {at::from_blob(data, {static_cast<std::int64_t>(count)}, type)};
    wait(group_->broadcast(tensors));
  }

  void wait(const c10::intrusive_ptr<c10d::Work>& work) const {
    while (true) {
      try {
        work->wait(kBetweenLooks);
        return;
      } catch (const std::exception& failure) {
        std::string lost = watch_->lost();
        if (work->isCompleted() && !work->isSuccess()) lost = essence(failure);
        if (lost.empty()) continue;  // only late
        throw Error(
            ErrorKind::failed,
            fmt::format("rank {} of {}: another process of this run has ended ({})", place_.rank, place_.size, lost),
            {}, "start all of them again with --resume: the run goes on from its last checkpoint");
      }
    }
  }

  RankPlace place_;
  StorePointer store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::unique_ptr<RankWatch> watch_;
  std::vector<c10::intrusive_ptr<c10d::Work>> begun_;
  bool left_ = false;
};

}  // namespace

bool has_process_groups() { return true; }

std::unique_ptr<ProcessGroup> join_process_group(const RankPlace& place) { return std::make_unique<GlooGroup>(place); }

}  // namespace eureka

#else

namespace eureka {

bool has_process_groups() { return false; }

std::unique_ptr<ProcessGroup> join_process_group(const RankPlace&) {
  throw Error(ErrorKind::config, "this program was built where Gloo's headers are missing: it trains in one process",
              {}, "install libgloo-dev and run 'make build', with Debian's libtorch (docs/ranks.md)");
}

}  // namespace eureka

#endif
