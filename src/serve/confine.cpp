#include "serve/confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "serve/served_tree.h"

namespace eureka::serve {
namespace {

std::atomic<bool> confined{false};

// Everything the first version of Landlock knows, and what later ones added: moving files between directories, cutting
// them short.
constexpr std::uint64_t kFirst = (std::uint64_t{1} << 13) - 1, kRefer = std::uint64_t{1} << 13,
                        kTruncate = std::uint64_t{1} << 14;

std::uint64_t rights_of_version(long version) {
  return kFirst | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}

}  // namespace

bool confine_to(const fs::path& root) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = rights_of_version(version);
  const Opened rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  const Opened place(::open(root.c_str(), O_PATH | O_CLOEXEC | O_DIRECTORY));
  if (!rules.is_open() || !place.is_open()) return false;
  landlock_path_beneath_attr below{};
  below.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  below.parent_fd = place.get();
  if (::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &below, 0) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return false;
  confined = true;
  return true;
}

bool is_confined() { return confined; }

}  // namespace eureka::serve
