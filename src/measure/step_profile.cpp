#include "measure/step_profile.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/error.h"

namespace eureka {
namespace {

// By part; written by the signal handler, which has nothing but globals.
std::array<std::atomic<std::size_t>, kWorkParts> counts;
static_assert(std::atomic<std::size_t>::is_always_lock_free, "written by a signal handler");

void count_part(int) {
  const auto part = static_cast<std::size_t>(current_work_part.load(std::memory_order_relaxed));
  counts[part].fetch_add(1, std::memory_order_relaxed);
}

// Interrupts this thread every half millisecond of wall-clock time while it exists.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = count_part;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPROF, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
      throw Error(ErrorKind::failed, "cannot make a timer to interrupt the steps with");
    const itimerspec period{{0, 500'000}, {0, 500'000}};
    ::timer_settime(timer_, 0, &period, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() {
    ::timer_delete(timer_);
    ::sigaction(SIGPROF, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  timer_t timer_{};
};

struct PartName {
  WorkPart part;
  const char* name;
};
constexpr std::array<PartName, kWorkParts> kPartNames = {{{WorkPart::embedding, "embedding"},
                                                          {WorkPart::layer_norm, "LayerNorm"},
                                                          {WorkPart::products, "products"},
                                                          {WorkPart::weight_gradients, "weight gradients"},
                                                          {WorkPart::attention, "attention"},
                                                          {WorkPart::loss, "loss"},
                                                          {WorkPart::optimizer, "optimiser, packing"},
                                                          {WorkPart::rest, "rest"}}};

}  // namespace

void StepProfile::sample(const std::function<void()>& work) {
  for (auto& count : counts) count = 0;
  {
    const Interruptions interruptions;
    work();
  }
  for (std::size_t part = 0; part < kWorkParts; ++part) interruptions_[part] += counts[part];
}

std::vector<std::pair<std::string, double>> StepProfile::shares() const {
  const std::size_t all = std::accumulate(interruptions_.begin(), interruptions_.end(), std::size_t{0});
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [part, name] : kPartNames)
    result.emplace_back(name, static_cast<double>(interruptions_[static_cast<std::size_t>(part)]) /
                                  static_cast<double>(std::max<std::size_t>(1, all)));
  return result;
}

}  // namespace eureka
