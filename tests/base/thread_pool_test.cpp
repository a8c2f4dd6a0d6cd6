#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace eureka {
namespace {

TEST(ThreadPool, DoesEveryTaskOnceInEveryRound) {
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    // Not atomic on purpose: a task that two threads take, or a round that ends too soon, is a race to the sanitizer.
    std::vector<int> done(17);
    for (int round = 1; round <= 300; ++round) {
      pool.run(done.size(), [&](std::size_t task, std::size_t thread) {
        EXPECT_LT(thread, threads);
        ++done[task];
      });
      ASSERT_EQ(std::accumulate(done.begin(), done.end(), 0), round * static_cast<int>(done.size()));
    }
  }
}

TEST(ThreadPool, ThrowsATasksExceptionAgainAndGoesOn) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run(20,
                          [](std::size_t task, std::size_t) {
                            if (task % 7 == 3) throw std::runtime_error("task");
                          }),
                 std::runtime_error);
    std::vector<int> done(20);
    pool.run(done.size(), [&](std::size_t task, std::size_t) { done[task] = 1; });
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 20);
  }
}

TEST(ThreadPool, EndsWithoutEverHavingWorked) {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace eureka
