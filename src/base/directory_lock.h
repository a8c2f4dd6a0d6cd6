// One process at a time.
//
//   DirectoryLock lock(dir);                         a second process gets an Error that says who holds it
#pragma once

#include <memory>

#include "base/directory_claim.h"

namespace eureka {

// Exclusive use of a directory for the lifetime of the object: by the kernel's lock, which dies with the process, and
// across machines by a claim (base/directory_claim.h).
class DirectoryLock {
 public:
  explicit DirectoryLock(const fs::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  // Does some process of this machine hold it at this moment?
  static bool is_held(const fs::path& directory);

  // Throws Error(failed) when the directory was taken away meanwhile, or taken over by another machine: what is written
  // there now goes nowhere.
  void refuse_if_lost() const;

 private:
  fs::path directory_;
  int descriptor_ = -1;
  std::unique_ptr<DirectoryClaim> claim_;
};

}  // namespace eureka
