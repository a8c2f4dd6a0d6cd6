#include "cli/stop.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <forward_list>

#include "cli/cli.h"

namespace eureka::cli {
namespace {

std::atomic<bool> stop_flag{false};
std::atomic<const std::string*> stop_notice{nullptr};
std::atomic<bool> one_is_enough{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<const std::string*>::is_always_lock_free,
              "used in a signal handler");

void request_stop(int) {
  const int before = errno;
  stop_flag.store(true);
  // A second signal of either kind means it: back to the default action.
  if (!one_is_enough.load()) {
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
  }
  if (const std::string* notice = stop_notice.load()) (void)!::write(STDERR_FILENO, notice->data(), notice->size());
  errno = before;
}

std::string notice(const std::string& how_long) {
  return fmt::format("eureka: finishing the step{}; a second signal stops at once\n", how_long);
}

}  // namespace

const std::atomic<bool>& stop_requested() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = request_stop;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  (void)installed;
  return stop_flag;
}

void ignore_further_signals() { one_is_enough.store(true); }

void say_when_stopped(const std::string& notice) {
  // The handler may hold any of them, so none is freed; they are few.
  static std::forward_list<std::string> notices;
  stop_notice.store(notice.empty() ? nullptr : &notices.emplace_front(notice));
}

void StepTimes::on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) {
  say_when_stopped(notice(""));
  last_step_ = std::chrono::steady_clock::now();
  next_.on_start(engine, first_step, steps);
}

void StepTimes::on_step(std::int64_t updates_done) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::ceil(std::chrono::duration<double>(now - last_step_).count());
  last_step_ = now;
  if (seconds > longest_) {
    longest_ = seconds;
    // Nobody waits for a short one.
    say_when_stopped(seconds <= 1 ? "" : notice(fmt::format(" (up to {:.0f} s)", seconds)));
  }
  next_.on_step(updates_done);
}

}  // namespace eureka::cli
