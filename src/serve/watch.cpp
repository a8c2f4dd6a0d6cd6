#include "serve/watch.h"

namespace eureka::serve {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

Watch::Watch(const ServedTree& tree, RunIndex& index) : tree_(tree), index_(index), thread_([this] { look(); }) {}

void Watch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string Watch::state_of(const std::string& id) const {
  if (id.empty()) return std::to_string(index_.snapshot()->stamp);
  return tree_.stamps(id);
}

void Watch::look() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    std::map<std::string, std::string> states;
    for (const auto& [id, watched] : watched_) states[id];
    lock.unlock();
    for (auto& [id, state] : states) {
      try {
        state = state_of(id);
      } catch (const std::exception&) {
        state = "cannot be told";  // whoever asks is told why
      }
    }
    lock.lock();
    bool has_any = false;
    for (auto& [id, state] : states) {
      const auto watched = watched_.find(id);
      if (watched == watched_.end() || watched->second.state == state) continue;
      watched->second.state = state;
      ++watched->second.changes;
      has_any = true;
    }
    if (has_any) changed_.notify_all();
    changed_.wait_for(lock, kBetweenLooks, [&] { return ends_; });
  }
}

Watch::Watcher::Watcher(Watch& watch, const std::string& id) : watch_(watch), id_(id) {
  const std::lock_guard lock(watch_.mutex_);
  Watched& watched = watch_.watched_[id_];
  ++watched.watchers;
  seen_ = watched.changes;
}

Watch::Watcher::~Watcher() {
  const std::lock_guard lock(watch_.mutex_);
  const auto watched = watch_.watched_.find(id_);
  if (--watched->second.watchers == 0) watch_.watched_.erase(watched);
}

Watch::Watcher::Woken Watch::Watcher::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(watch_.mutex_);
  const Watched& watched = watch_.watched_.at(id_);
  watch_.changed_.wait_for(lock, most, [&] { return watch_.ends_ || watched.changes != seen_; });
  if (watch_.ends_) return Woken::by_end;
  return watched.changes != std::exchange(seen_, watched.changes) ? Woken::by_change : Woken::by_time;
}

}  // namespace eureka::serve
