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
#include <mutex>
#include <thread>
#include <vector>

namespace eureka {

class ThreadPool {
 public:
  // `threads` counts the caller of run() too: with 1 there is no other.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  // work(task, thread) for every task. The first exception of a task is thrown again here, after all have ended.
  // Nothing is allocated.
  template <class F>
  void run(std::size_t tasks, const F& work) {
    run_work(tasks, {&work, [](const void* f, std::size_t task, std::size_t thread) {
                       (*static_cast<const F*>(f))(task, thread);
                     }});
  }

 private:
  // A callable that its caller keeps alive.
  struct Work {
    const void* callable = nullptr;
    void (*call)(const void* callable, std::size_t task, std::size_t thread) = nullptr;
    void operator()(std::size_t task, std::size_t thread) const { call(callable, task, thread); }
  };

  void run_work(std::size_t tasks, Work work);
  void wait_for_work(std::size_t thread);
  void take_tasks(std::size_t thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, done_;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> busy_{0};
  std::atomic<bool> ending_{false};
  Work work_;
  std::size_t tasks_ = 0;
  std::atomic<std::size_t> next_{0};
  std::exception_ptr failure_;
};

}  // namespace eureka
