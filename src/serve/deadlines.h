// Nobody holds a connection by being slow: a request that is not whole in time, or an answer that is not taken, ends
// it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace eureka::serve {

class Deadlines {
 public:
  struct Limits {
    std::chrono::milliseconds request{20'000}, answer{120'000};
  };
  enum class Phase { request, answer, stream };  // streams may last

  explicit Deadlines(Limits limits);
  ~Deadlines() { stop(); }
  void stop();

  // A connection, by whatever names it, and its socket.
  void begin(const void* connection, int socket);
  void enter(const void* connection, Phase phase);
  void end(const void* connection);

 private:
  struct Connection {
    int socket = -1;
    Phase phase = Phase::request;
    std::chrono::steady_clock::time_point since;
  };
  void look();

  Limits limits_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<const void*, Connection> connections_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace eureka::serve
