#include "serve/deadlines.h"

#include <sys/socket.h>

#include <algorithm>

namespace eureka::serve {

using std::chrono::steady_clock;

Deadlines::Deadlines(Limits limits) : limits_(limits), thread_([this] { look(); }) {}

void Deadlines::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Deadlines::begin(const void* connection, int socket) {
  const std::lock_guard lock(mutex_);
  connections_[connection] = {socket, Phase::request, steady_clock::now()};
}

void Deadlines::enter(const void* connection, Phase phase) {
  const std::lock_guard lock(mutex_);
  const auto known = connections_.find(connection);
  if (known == connections_.end()) return;
  known->second.phase = phase;
  known->second.since = steady_clock::now();
}

void Deadlines::end(const void* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

void Deadlines::look() {
  const auto between = std::clamp(limits_.request / 10, std::chrono::milliseconds(10), std::chrono::milliseconds(1000));
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, between, [&] { return ends_; })) {
    const auto now = steady_clock::now();
    for (auto& [connection, one] : connections_) {
      if (one.phase == Phase::stream) continue;
      // Whoever serves the connection sees its end and closes it.
      if (now - one.since > (one.phase == Phase::request ? limits_.request : limits_.answer))
        ::shutdown(one.socket, SHUT_RDWR);
    }
  }
}

}  // namespace eureka::serve
