// A few threads that wait for work. Tasks are numbered; which thread takes which is left to chance, so results must not
// depend on it.
//
//   ThreadPool pool(2);
//   pool.run(8, [&](std::size_t task, std::size_t thread) { ... });       returns when all are done
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace eureka {

class ThreadPool {
 public:
  using Work = std::function<void(std::size_t task, std::size_t thread)>;

  // `threads` counts the caller of run() too: with 1 there is no other.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  // The first exception of a task is thrown again here, after all have ended.
  void run(std::size_t tasks, const Work& work);

 private:
  void wait_for_work(std::size_t thread);
  void take_tasks(std::size_t thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, done_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;
  bool ending_ = false;
  const Work* work_ = nullptr;
  std::size_t tasks_ = 0;
  std::atomic<std::size_t> next_{0};
  std::exception_ptr failure_;
};

}  // namespace eureka
