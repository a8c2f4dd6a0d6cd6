// Answers that are asked for again before anything has changed.
//
//   cache.get("/api/figure?id=cures&name=survival", version, [&] { return painted(...); });
//
// A few threads at most work things out at a time, so that many viewers do not take the machine from what it trains.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "serve/answer.h"

namespace eureka::serve {

class AnswerCache {
 public:
  AnswerCache(std::size_t most_bytes, std::size_t at_a_time) : most_bytes_(most_bytes), free_(at_a_time) {}

  // `version` is that of what the answer is made of. Asked for the same at once, it is worked out once.
  Answer get(const std::string& key, std::uint64_t version, const std::function<Answer()>& work_out);

 private:
  struct Kept {
    std::uint64_t version = 0;
    Answer answer;
    std::size_t bytes = 0;
    std::list<std::string>::iterator place;  // in order of use
  };
  void keep(const std::string& key, std::uint64_t version, const Answer& answer);
  void forget(std::map<std::string, Kept>::iterator one);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Kept> kept_;
  std::list<std::string> used_;  // the latest first
  std::set<std::string> under_way_;
  std::size_t bytes_ = 0, most_bytes_, free_;
};

}  // namespace eureka::serve
