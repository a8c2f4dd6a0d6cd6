#include "base/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace eureka {
namespace {

// Closed on every way out of the constructor.
struct Closing {
  int descriptor;
  ~Closing() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory) : directory_(directory) {
  Closing file{open_own(directory / ".lock", O_RDWR | O_CREAT)};
  if (::flock(file.descriptor, LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = {};
    const ssize_t got = ::pread(file.descriptor, owner, sizeof owner - 1, 0);
    throw Error(ErrorKind::output, fmt::format("in use by another eureka process ({})", got > 0 ? owner : "unknown"),
                directory.string(), "wait for it to end, or choose another place with --out DIR");
  }
  // Only for the message of the one who comes second, so a failed write (full disk) is no reason to stop.
  const std::string owner = fmt::format("process {}", ::getpid());
  if (::ftruncate(file.descriptor, 0) == 0) (void)!::pwrite(file.descriptor, owner.data(), owner.size(), 0);
  claim_ = std::make_unique<DirectoryClaim>(directory);
  descriptor_ = std::exchange(file.descriptor, -1);
}

bool DirectoryLock::is_held(const fs::path& directory) {
  const Closing file{::open((directory / ".lock").c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  return file.descriptor >= 0 && ::flock(file.descriptor, LOCK_EX | LOCK_NB) != 0;
}

void DirectoryLock::refuse_if_lost() const {
  struct stat ours {};
  struct stat there {};
  if (::fstat(descriptor_, &ours) != 0) return;
  const bool is_there = ::stat((directory_ / ".lock").c_str(), &there) == 0;
  if (!is_there && errno != ENOENT && errno != ENOTDIR) return;
  if (!is_there || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)
    throw Error(ErrorKind::failed, "the directory (or its .lock) was removed while it was in use", directory_.string(),
                "what was computed since is lost: run again");
  claim_->refuse_if_lost();
}

DirectoryLock::~DirectoryLock() {
  claim_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace eureka
