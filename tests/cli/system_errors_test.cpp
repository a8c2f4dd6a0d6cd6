// What the system refuses is told as such: never as a bug of the program's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_told(const std::vector<std::string>& words, const std::string& what, int exit_code = 2) {
  const CommandResult result = eureka_command(words);
  EXPECT_EQ(result.exit_code, exit_code) << words[0] << " " << words[1] << ": " << result.err;
  EXPECT_THAT(result.err, HasSubstr(what)) << words[0] << " " << words[1];
  EXPECT_THAT(result.err, Not(HasSubstr("internal error")));
}

// Every verb that takes a place, with this one.
void expect_told_everywhere(const std::string& place, const std::string& what) {
  expect_told({"train", "two-step", "--out", place + "/run"}, what);
  expect_told({"train", place + "/run.toml"}, what);
  expect_told({"train", "--out", place + "/run", "--resume"}, what);
  expect_told({"branch", place + "/run@100"}, what);
  expect_told({"study", place + "/study.toml"}, what);
  expect_told({"study", "--out", place + "/study", "--resume"}, what);
  expect_told({"detect", place + "/log.csv"}, what);
}

TEST(SystemErrors, ALoopOfLinksIsNamed) {
  const TemporaryDirectory directory;
  const fs::path loop = directory.path() / "loop";
  fs::create_symlink("loop", loop);
  expect_told_everywhere(loop.string(), "Too many levels of symbolic links");
}

TEST(SystemErrors, ANameThatIsTooLongIsNamed) {
  const TemporaryDirectory directory;
  expect_told_everywhere((directory.path() / std::string(300, 'a')).string(), "File name too long");
}

TEST(SystemErrors, AFolderWithoutPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  const TemporaryDirectory directory;
  const fs::path place = directory.path() / "closed";
  fs::create_directories(place);
  fs::permissions(place, fs::perms::none);
  expect_told_everywhere(place.string(), "Permission denied");
  fs::permissions(place, fs::perms::all);
}

TEST(SystemErrors, BytesThatAreNoTextAreRefusedOrKept) {
  const TemporaryDirectory directory;
  const std::string out = (directory.path() / "run").string();
  for (const char* assignment : {"task.name=a\xff", "run.device=a\xff", "diagnose.names=a\xff", "a\xff.b=1", "\xff"})
    expect_told({"train", "two-step", "--out", out, "--set", assignment}, "\\xff");
  // A name of a file may be any bytes.
  const std::string odd = (directory.path() / "odd\xff").string();
  const std::vector<std::string> few = {"--quiet", "--set", "train.steps=4", "--set", "run.checkpoint_every=2"};
  std::vector<std::string> words = {"train", "two-step", "--out", odd};
  words.insert(words.end(), few.begin(), few.end());
  EXPECT_EQ(eureka_command(words).exit_code, 0);
  words = {"branch", odd + "@2", "--out", odd + "-branch", "--quiet", "--set", "train.steps=6"};
  EXPECT_EQ(eureka_command(words).exit_code, 0);
  fs::remove(odd + "-branch/summary.json");
  words.emplace_back("--resume");
  EXPECT_EQ(eureka_command(words).exit_code, 0);
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"detect", odd, "--json"},
                                               {"detect", odd, odd, "--json"},
                                               {"diagnose", odd, "--json"},
                                               {"compare", odd, odd + "-branch", "--json"},
                                               {"study", "cures", "--seeds", "1", "--out", odd + "-study", "--status"}})
    EXPECT_LT(eureka_command(verb).exit_code, 3) << verb[0];
  // A list of tasks is JSON, whose names are text.
  expect_told({"study", "cures", "--out", odd + "-study", "--plan"}, "is not valid UTF-8");
}

TEST(SystemErrors, ANumberBelowZeroIsRefusedWithoutTheLargestThereIs) {
  expect_told({"trial", "tasks.jsonl", "-1"}, "-1 is no number from 0 up");
  expect_told({"train", "two-step", "--threads", "0"}, "0 is no number above 0");
}

#ifndef __SANITIZE_ADDRESS__  // which takes terabytes of address space by itself
TEST(SystemErrors, TooLittleMemoryIsSaid) {
  const TemporaryDirectory directory;
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit limit{rlim_t{256} << 20, before.rlim_max};
  ::setrlimit(RLIMIT_AS, &limit);
  Command run({"train", "two-step", "--quiet", "--out", (directory.path() / "run").string(), "--set",
               "train.validation_samples=10000000"});
  ::setrlimit(RLIMIT_AS, &before);
  const CommandResult result = run.wait();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("out of memory"));
}

TEST(SystemErrors, AThreadThatCannotBeginIsNoBug) {
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  // More than the program itself takes, less than the stack of one more thread.
  bool was_told = false;
  for (int megabytes = 20; megabytes <= 60; megabytes += 2) {
    const rlimit limit{rlim_t(megabytes) << 20, before.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
    Command run({"condition", "sweep", "--threads", "2"});
    ::setrlimit(RLIMIT_AS, &before);
    const CommandResult result = run.wait();
    EXPECT_NE(result.exit_code, 70) << result.err;
    was_told |= result.err.find("to begin a thread") != std::string::npos;
  }
  EXPECT_TRUE(was_told);
}
#endif

}  // namespace
}  // namespace eureka
