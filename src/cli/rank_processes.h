// eureka train --ranks N: the other processes of a run on this machine, started by the one that is rank 0.
#pragma once

#include <sys/types.h>

#include <vector>

#include "engine/ranks.h"

namespace eureka::cli {

class RankProcesses {
 public:
  // Ranks 1 to size - 1. They learn what to do from rank 0 alone, and end with this process.
  explicit RankProcesses(int size);
  // Ends those that still run; says of one that was killed by which signal.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  const RankPlace& own_place() const { return own_place_; }

 private:
  RankPlace own_place_;
  std::vector<pid_t> children_;  // that of rank 1 first
};

}  // namespace eureka::cli
