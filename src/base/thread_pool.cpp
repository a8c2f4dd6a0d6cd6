#include "base/thread_pool.h"

#include <utility>

namespace eureka {

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

void ThreadPool::run(std::size_t tasks, const Work& work) {
  if (workers_.empty() || tasks < 2) {
    for (std::size_t task = 0; task < tasks; ++task) work(task, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    tasks_ = tasks;
    next_ = 0;
    busy_ = workers_.size();
    ++round_;
  }
  begin_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::wait_for_work(std::size_t thread) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begin_.wait(lock, [&] { return ending_ || round_ != seen; });
    if (ending_) return;
    seen = round_;
    lock.unlock();
    take_tasks(thread);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::take_tasks(std::size_t thread) {
  try {
    for (std::size_t task = next_++; task < tasks_; task = next_++) (*work_)(task, thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = tasks_;
  }
}

}  // namespace eureka
