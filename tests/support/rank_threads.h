// Ranks that are threads of one process, each with its own connections.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "nn/process_group.h"

#define EUREKA_NEEDS_GLOO() \
  if (!gloo_connection()) GTEST_SKIP() << "built where Gloo's headers are missing"

namespace eureka {

// Calls `work` on `size` ranks at a time; what one throws is thrown here.
inline void over_ranks(int size, const std::function<void(ProcessGroup&)>& work,
                       const RankConnections& connections = {}) {
  const int port = free_port();
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto ranks = join_process_group(place_on_this_machine(rank, size, port), connections);
        work(*ranks);
        ranks->leave();
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace eureka
