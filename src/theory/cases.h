// Independent cases on several threads. The result of a case depends on the case alone and is stored at its place, so
// the outcome is the same for every number of threads.
//
//   const std::vector<SweepResult> results = for_cases(threads, cases, [](const SweepCase& c) { return measure(c); });
#pragma once

#include <type_traits>
#include <vector>

#include "base/thread_pool.h"

namespace eureka::theory {

template <class Case, class Measure>
auto for_cases(std::size_t threads, const std::vector<Case>& cases, const Measure& measure) {
  std::vector<std::invoke_result_t<Measure, const Case&>> results(cases.size());
  ThreadPool pool(threads);
  pool.run(cases.size(), [&](std::size_t i, std::size_t) { results[i] = measure(cases[i]); });
  return results;
}

}  // namespace eureka::theory
