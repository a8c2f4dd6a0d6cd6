#include "lab/heartbeat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace eureka {
namespace {

constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Heartbeat::Heartbeat(int descriptor, RunObserver& next) : descriptor_(descriptor), next_(next) {
  if (descriptor >= 0 && ::fcntl(descriptor, F_GETFD) < 0)
    throw Error(ErrorKind::usage, fmt::format("--heartbeat {}: no such descriptor", descriptor));
}

void Heartbeat::tell(std::int64_t updates_done) {
  if (descriptor_ < 0) return;
  last_told_ = std::chrono::steady_clock::now();
  // The pipe never blocks: when it is full the study has enough to read.
  (void)!::write(descriptor_, &updates_done, sizeof updates_done);
}

void Heartbeat::on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) {
  tell(first_step);
  next_.on_start(engine, first_step, steps);
}

void Heartbeat::on_step(std::int64_t updates_done) {
  if (descriptor_ >= 0 && std::chrono::steady_clock::now() - last_told_ >= kPause) tell(updates_done);
  next_.on_step(updates_done);
}

void Heartbeat::on_row(const MetricsRow& row, const Findings& findings) { next_.on_row(row, findings); }

}  // namespace eureka
