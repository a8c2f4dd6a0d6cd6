#include "nn/process_group.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "nn/device.h"
#include "nn/rank_backend.h"
#include "nn/rank_device.h"
#include "nn/rank_watch.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

// A scheduler may start the last of many processes minutes after the first.
constexpr auto kPatienceToMeet = 5min;
constexpr auto kPatienceToLeave = 20s;
constexpr const char* kHowToHaveGloo = "install libgloo-dev and build again (docs/ranks.md)";

RankStore open_store(const RankPlace& place, bool first) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = first && place.leads();
  options.waitWorkers = first;
  options.numWorkers = static_cast<std::size_t>(place.size);
  options.timeout = kPatienceToMeet;
  return c10::make_intrusive<c10d::TCPStore>(place.address, options);
}

// Without addresses in the source and backtraces.
std::string essence(const std::exception& failure) {
  const auto* torch = dynamic_cast<const c10::Error*>(&failure);
  std::string text = torch != nullptr ? torch->what_without_backtrace() : failure.what();
  text = text.substr(0, text.find('\n'));
  if (text.starts_with("[")) text = text.substr(text.find("] ") + 2);
  return text;
}

std::string device_key(int rank) { return fmt::format("device-{}", rank); }

class RankGroup final : public ProcessGroup {
 public:
  RankGroup(const RankPlace& place, const RankConnections& connections)
      : place_(place), connect_device_(connections.device) {
    meet([&] {
      const auto begin = std::chrono::steady_clock::now();
      store_ = open_store(place, true);
      // Older releases of libtorch go on without those who did not come, to wait for them once more.
      if (std::chrono::steady_clock::now() - begin >= kPatienceToMeet)
        throw std::runtime_error("not all of them came within five minutes");
      if (connections.host) host_ = connections.host(place, store_);
      watch_ = std::make_unique<RankWatch>(place, open_store(place, false));
    });
    if (!host_) take(*connections.instead_of_host);
  }

  ~RankGroup() override {
    if (left_) return;
    // Their threads may wait for somebody who has died, and would be waited for.
    if (host_) host_->abandon();
    if (!device_backend_) return;
    device_backend_->abandon();
    watch_->end_process_soon();
  }

  const RankPlace& place() const override { return place_; }

  void work_on(const at::Device& device) override {
    if (device == device_ || (device.is_cpu() && host_)) return;
    if (device.is_cpu())
      throw Error(ErrorKind::config,
                  "this program was built where Gloo's headers are missing: several processes train on CUDA devices "
                  "only",
                  {}, fmt::format("--set run.device=cuda, or {}", kHowToHaveGloo));
    take(device);
  }

  void begin_sum(const at::Tensor& numbers) override { begun_.push_back(begin(numbers, &RankBackend::begin_sum)); }

  void finish() override {
    for (const Begun& begun : begun_) end(begun);
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
    for (RankBackend* backend : {device_backend_.get(), host_.get()})
      if (backend != nullptr) backend->leave();
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
  struct Begun {
    RankBackend* backend;
    RankBackend::Work work;
    at::Tensor numbers;
    at::Tensor copy;  // the same tensor, where its own backend is there
  };

  template <class Step>
  void meet(const Step& step) const {
    try {
      step();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& failure) {
      throw Error(ErrorKind::failed,
                  fmt::format("rank {} cannot meet the others at {}:{}: {}", place_.rank, place_.address, place_.port,
                              essence(failure)),
                  {},
                  fmt::format("all {} processes must be told the same address and port, and reach them", place_.size));
    }
  }

  void take(const at::Device& device) {
    meet([&] {
      if (!device.is_cpu()) refuse_shared(devices_of_all(device));
      if (!device_backend_ && connect_device_) device_backend_ = connect_device_(place_, store_);
    });
    device_ = device;
  }

  std::vector<RankDevice> devices_of_all(const at::Device& own) const {
    const std::string text = text_of(device_told(own));
    store_->set(device_key(place_.rank), std::vector<std::uint8_t>(text.begin(), text.end()));
    std::vector<RankDevice> devices;
    for (int rank = 0; rank < place_.size; ++rank) {
      const std::vector<std::uint8_t> told = store_->get(device_key(rank));
      devices.push_back(device_in({told.begin(), told.end()}));
    }
    return devices;
  }

  Begun begin(const at::Tensor& numbers, RankBackend::Work (RankBackend::*what)(const at::Tensor&)) const {
    RankBackend* own = numbers.is_cpu() ? host_.get() : device_backend_.get();
    Begun begun{own, {}, numbers, numbers};
    if (own == nullptr) {
      begun.backend = numbers.is_cpu() ? device_backend_.get() : host_.get();
      begun.copy = numbers.is_cpu() ? numbers.to(*device_, numbers.scalar_type(), /*non_blocking=*/false, /*copy=*/true)
                                    : numbers.cpu();
    }
    try {
      begun.work = (begun.backend->*what)(begun.copy);
    } catch (const std::exception& failure) {
      end_all(essence(failure));
    }
    return begun;
  }

  void end(const Begun& begun) const {
    for (bool done = false; !done;) {
      try {
        done = begun.backend->is_done(*begun.work);
      } catch (const std::exception& failure) {
        end_all(essence(failure));
      }
      if (done) break;
      if (const std::string lost = watch_->lost(); !lost.empty()) end_all(lost);
    }
    if (!begun.copy.is_same(begun.numbers)) at::Tensor(begun.numbers).copy_(begun.copy);
  }

  void share(void* data, std::size_t count, at::ScalarType type) {
    if (count == 0) return;
    end(begin(at::from_blob(data, {static_cast<std::int64_t>(count)}, type), &RankBackend::begin_share));
  }

  [[noreturn]] void end_all(const std::string& why) const {
    throw Error(ErrorKind::failed,
                fmt::format("rank {} of {}: another process of this run has ended ({})", place_.rank, place_.size, why),
                {}, "start all of them again with --resume: the run goes on from its last checkpoint");
  }

  RankPlace place_;
  RankStore store_;
  ConnectRanks connect_device_;
  std::unique_ptr<RankBackend> host_, device_backend_;
  std::unique_ptr<RankWatch> watch_;
  std::optional<at::Device> device_;
  std::vector<Begun> begun_;
  bool left_ = false;
};

}  // namespace

std::unique_ptr<ProcessGroup> join_process_group(const RankPlace& place, const RankConnections& connections) {
  RankConnections all = connections;
  if (!all.host && !all.device)
    throw Error(ErrorKind::config,
                "this program was built where the headers of Gloo and of NCCL are missing: it trains in one process",
                {}, kHowToHaveGloo);
  if (!all.host && !all.instead_of_host) {
    all.instead_of_host = cuda_device_of_rank(place.local_rank);
    if (!all.instead_of_host)
      throw Error(ErrorKind::config,
                  "this program was built where Gloo's headers are missing, and there is no CUDA device for NCCL", {},
                  kHowToHaveGloo);
  }
  return std::make_unique<RankGroup>(place, all);
}

}  // namespace eureka
