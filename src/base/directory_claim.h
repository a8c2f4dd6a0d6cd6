// The use of a directory by one machine among several that share its file system. The kernel's lock, which
// DirectoryLock takes first, keeps out other processes of this machine; across machines it holds only where the file
// system passes it on. So the holder also leaves a file there, made by the one call that a file system decides for all
// (O_EXCL), which says who it is and in which it counts on every few seconds.
//
//   const DirectoryClaim claim(directory);                 waits, or throws Error(output) that says who holds it
//   claim.refuse_if_lost();
//
// A claim left by a process of this machine, since it was started, ends with that process. One of another machine, or
// of this one before it was started, is taken over when its count has stood still for a minute by our own clock: no
// time that another machine wrote is ever compared. A holder that was silent for longer and comes back finds that it
// has lost the directory, before its next row or checkpoint.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/files.h"

namespace eureka {

inline constexpr const char* kClaimFile = ".lock-owner";

// `boot` is another one whenever a machine is started.
struct MachineIdentity {
  std::string host;
  std::string boot;
};
MachineIdentity this_machine();

struct ClaimTiming {
  std::chrono::milliseconds beat{10'000};
  std::chrono::milliseconds silence{60'000};  // after which a claim is nobody's
};

class DirectoryClaim {
 public:
  // Requires: this process holds the machine's own lock on it. On a full disk there is no claim, and no complaint.
  explicit DirectoryClaim(const fs::path& directory, const MachineIdentity& machine = this_machine(),
                          ClaimTiming timing = {});
  ~DirectoryClaim();
  DirectoryClaim(const DirectoryClaim&) = delete;
  DirectoryClaim& operator=(const DirectoryClaim&) = delete;

  // Throws Error(failed) when another machine has taken over.
  void refuse_if_lost() const;

  // Has another machine left a claim there, dead or alive?
  static bool is_foreign(const fs::path& directory, const MachineIdentity& machine = this_machine());

 private:
  bool make(const MachineIdentity& machine);
  bool is_ours() const;
  void count_on(std::chrono::milliseconds beat);

  fs::path file_;
  int descriptor_ = -1;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread counter_;
};

}  // namespace eureka
