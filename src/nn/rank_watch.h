// Watches over the ranks of a run: each counts on in the store that they met at, and whoever no longer does has died,
// whatever its connections say. Rank 0 watches all others, they watch rank 0.
//
// Ensures: half a minute after a rank has fallen silent this process has ended: by whoever asks lost(), or, where
// nobody does, from here.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "engine/ranks.h"
#include "nn/torch.h"

namespace c10d {
class Store;
}

namespace eureka {

class RankWatch {
 public:
  // `store` is used by nobody else.
  RankWatch(const RankPlace& place, c10::intrusive_ptr<c10d::Store> store);
  ~RankWatch();

  // Who fell silent; empty: nobody did.
  std::string lost() const;

  void stop();

  // This process is about to end; if what waits on a device keeps it from that, it is ended from here.
  void end_process_soon();

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    std::int64_t count = 0;
    Clock::time_point when;
  };

  void watch();
  void watch_until_stopped();
  [[noreturn]] void end_process(const std::string& why) const;
  void look();
  // False once it is to stop.
  bool pause(std::chrono::milliseconds time);
  void lose(const std::string& whom);

  RankPlace place_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::map<int, Seen> seen_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false, ended_ = false;
  std::string lost_;
  Clock::time_point last_look_ = Clock::now();
  std::thread thread_;
};

}  // namespace eureka
