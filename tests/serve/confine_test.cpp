// Where the kernel can promise it: nothing else is read, and nothing is written.
#include "serve/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/drawn_study.h"
#include "support/temporary_directory.h"

namespace eureka::serve {
namespace {

// In a process of its own, which it would bind for ever; the exit code is 77 where the kernel cannot.
template <class Check>
int confined(const fs::path& root, Check check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(confine_to(root) ? check() : 77);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool can_open(const fs::path& file, int how) {
  const int descriptor = ::open(file.c_str(), how, 0600);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

TEST(Confine, LeavesReadingBelowTheRootAndNothingElse) {
  TemporaryDirectory inside, outside;
  write_text(inside.path() / "run" / "meta.json", "{}");
  write_text(outside.path() / "secret", "s");
  fs::create_symlink(outside.path() / "secret", inside.path() / "link");
  const int failures = confined(inside.path(), [&] {
    int wrong = 0;
    wrong += can_open(inside.path() / "run" / "meta.json", O_RDONLY) ? 0 : 1;
    wrong += can_open(inside.path() / "run", O_RDONLY | O_DIRECTORY) ? 0 : 2;
    wrong += can_open(outside.path() / "secret", O_RDONLY) ? 4 : 0;
    wrong += can_open(inside.path() / "link", O_RDONLY) ? 8 : 0;
    wrong += can_open(inside.path() / "run" / "meta.json", O_WRONLY) ? 16 : 0;
    wrong += can_open(inside.path() / "new", O_WRONLY | O_CREAT) ? 32 : 0;
    return wrong;
  });
  if (failures == 77) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(failures, 0);
  // Others are not bound by it.
  EXPECT_TRUE(can_open(outside.path() / "secret", O_RDONLY));
}

}  // namespace
}  // namespace eureka::serve
