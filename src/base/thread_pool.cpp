#include "base/thread_pool.h"

#include <utility>

namespace eureka {
namespace {

// A step of a small model has several short runs: for about this many looks a thread waits awake, since going to sleep
// and being woken costs more than the pause between two runs.
constexpr int kLooks = 4000;

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Condition>
bool comes_true_soon(const Condition& condition) {
  for (int look = 0; look < kLooks; ++look) {
    if (condition()) return true;
    pause_briefly();
  }
  return false;
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  for (std::size_t thread = 1; thread < threads; ++thread)
    workers_.emplace_back([this, thread] { wait_for_work(thread); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_work(std::size_t tasks, Work work) {
  if (workers_.empty() || tasks < 2) {
    for (std::size_t task = 0; task < tasks; ++task) work(task, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = work;
    tasks_ = tasks;
    next_ = 0;
    busy_ = workers_.size();
    ++round_;
  }
  begin_.notify_all();
  take_tasks(0);
  const auto all_done = [this] { return busy_ == 0; };
  comes_true_soon(all_done);
  std::unique_lock lock(mutex_);
  done_.wait(lock, all_done);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::wait_for_work(std::size_t thread) {
  std::uint64_t seen = 0;
  while (true) {
    const auto something_new = [&] { return ending_ || round_ != seen; };
    if (!comes_true_soon(something_new)) {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, something_new);
    }
    if (ending_) return;
    seen = round_;
    take_tasks(thread);
    if (--busy_ == 0) {
      // Under the lock: the caller is then either not yet asleep and sees it, or asleep and is woken.
      const std::lock_guard lock(mutex_);
      done_.notify_one();
    }
  }
}

void ThreadPool::take_tasks(std::size_t thread) {
  try {
    for (std::size_t task = next_++; task < tasks_; task = next_++) work_(task, thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = tasks_;
  }
}

}  // namespace eureka
