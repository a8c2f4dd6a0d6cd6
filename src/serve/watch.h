// Wakes those who wait for a run or the index to change. One thread looks, a few times in a second and only at what
// somebody waits for.
//
//   const Watch::Watcher watcher = watch.watcher("cures/softmax/seed-1");       "" : the index
//   while (watcher.wait(15s)) ...            true: something may have changed, or the time is over; false: the end
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "serve/run_index.h"

namespace eureka::serve {

class Watch {
 public:
  Watch(const ServedTree& tree, RunIndex& index);
  ~Watch() { stop(); }

  // Everybody's wait ends.
  void stop();

  class Watcher {
   public:
    Watcher(Watch& watch, const std::string& id);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    enum class Woken { by_change, by_time, by_end };
    Woken wait(std::chrono::milliseconds most);

   private:
    Watch& watch_;
    std::string id_;
    std::uint64_t seen_ = 0;
  };

 private:
  struct Watched {
    std::size_t watchers = 0;
    std::uint64_t changes = 0;
    std::string state;  // of its files; another when they change
  };
  void look();
  std::string state_of(const std::string& id) const;

  const ServedTree& tree_;
  RunIndex& index_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Watched> watched_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace eureka::serve
