#include "base/files.h"
#include "base/directory_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

TEST(AtomicWrite, ReplacesTheContentAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "summary.json";
  atomic_write(file, "old");
  atomic_write(file, "new content");
  EXPECT_EQ(read_file(file), "new content");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1);
}

TEST(AtomicWrite, KeepsTheOldFileWhenTheNewOneCannotBeWritten) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "target";
  fs::create_directories(file / "occupied");  // rename over a non-empty directory fails after the temp file is written
  EXPECT_THROW(atomic_write(file, "text"), Error);
  EXPECT_TRUE(fs::exists(file / "occupied"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1)
      << "temp file left behind";
}

TEST(AtomicWrite, APlaceThatCannotBeWrittenToIsNamedAsTheUserDid) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "missing" / "picture.png";
  try {
    atomic_write(file, "text");
    FAIL() << "written to a directory that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), file.string());
    EXPECT_EQ(error.exit_code(), 2);
  }
}

TEST(AtomicWrite, TemporaryFilesHaveNamesNobodyCanGuess) {
  const TemporaryDirectory directory;
  const fs::path victim = directory.path() / "victim", file = directory.path() / "run" / "meta.json";
  fs::create_directories(file.parent_path());
  atomic_write(victim, "precious");
  // The names that eureka 0.1 would have used.
  fs::create_symlink(victim, file.string() + "." + std::to_string(::getpid()) + ".tmp");
  atomic_write(file, "new");
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_EQ(read_file(file), "new");
}

TEST(AtomicWrite, ReplacesALinkAndNotWhatItLeadsTo) {
  const TemporaryDirectory directory;
  const fs::path victim = directory.path() / "victim", file = directory.path() / "summary.json";
  atomic_write(victim, "precious");
  fs::create_symlink(victim, file);
  atomic_write(file, "new");
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(file));
}

void expect_refused(const std::function<void()>& action, const std::string& what) {
  try {
    action();
    ADD_FAILURE() << "not refused: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(error.message().find(what), std::string::npos) << error.message();
  }
}

// A device would become a file, for everybody on the machine.
TEST(AtomicWrite, ReplacesNoPipeAndNoDevice) {
  const TemporaryDirectory directory;
  const fs::path pipe = directory.path() / "pipe", device = directory.path() / "device";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("/dev/null", device);
  for (const fs::path& place : {pipe, device, fs::path("/dev/stdout")}) {
    const fs::file_type before = fs::symlink_status(place).type();
    expect_refused([&] { atomic_write(place, "text"); }, "is no regular file");
    expect_refused([&] { AtomicFile file(place); }, "is no regular file");
    EXPECT_EQ(fs::symlink_status(place).type(), before) << place;
  }
}

TEST(FilesOfARun, AreNotWrittenThroughLinksAndPipes) {
  const TemporaryDirectory directory;
  const fs::path victim = directory.path() / "victim", run = directory.path() / "run";
  fs::create_directories(run);
  atomic_write(victim, "precious");
  for (const char* name : {"events.jsonl", ".lock", "new"}) fs::create_symlink(victim, run / name);
  fs::create_directory_symlink(directory.path(), run / "checkpoints");
  ASSERT_EQ(::mkfifo((run / "metrics.jsonl").c_str(), 0644), 0);
  expect_refused([&] { AppendFile file(run / "events.jsonl"); }, "symbolic link");
  expect_refused([&] { AppendFile file(run / "metrics.jsonl"); }, "metrics.jsonl");
  expect_refused([&] { DirectoryLock lock(run); }, "symbolic link");
  expect_refused([&] { write_and_sync(run / "new", "text"); }, "new");
  expect_refused([&] { make_own_directory(run / "checkpoints"); }, "symbolic link");
  EXPECT_FALSE(DirectoryLock::is_held(run));
  EXPECT_EQ(read_file(victim), "precious");
}

TEST(RemoveLeftovers, KnowsWhatKilledWritersLeaveAndTakesNothingElse) {
  const TemporaryDirectory directory;
  const std::vector<std::string> left = {".meta.json.0123456789abcdef.tmp", "meta.json.4711.tmp"};
  const std::vector<std::string> kept = {
      "notes.tmp", "a.b.tmp", ".x.0123.tmp.txt", ".meta.json.0123456789abcdeg.tmp", ".4711.tmp", "summary.json"};
  for (const auto& names : {left, kept})
    for (const std::string& name : names) atomic_write(directory.path() / name, "text");
  remove_leftovers(directory.path());
  for (const std::string& name : left) EXPECT_FALSE(fs::exists(directory.path() / name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(directory.path() / name)) << name;
}

TEST(ReadFile, DoesNotWaitForAPipeIntoWhichNobodyWrites) {
  const TemporaryDirectory directory;
  const fs::path pipe = directory.path() / "summary.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused([&] { read_file(pipe); }, "a pipe into which nobody writes");
  std::thread slow([&] {
    std::ofstream out(pipe);
    for (const char* part : {"one ", "after ", "the other"}) {
      out << part << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_EQ(read_file(pipe), "one after the other");
  slow.join();
}

TEST(ReadFile, SaysWhatIsWrong) {
  const TemporaryDirectory directory;
  EXPECT_THROW(read_file(directory.path() / "missing"), Error);
  EXPECT_THROW(read_file(directory.path()), Error);
  atomic_write(directory.path() / "large", std::string(100, 'x'));
  EXPECT_THROW(read_file(directory.path() / "large", 99), Error);
  EXPECT_EQ(read_file(directory.path() / "large", 100).size(), 100U);
}

TEST(AppendFile, ContinuesAtTheEndAndTruncates) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "log";
  {
    AppendFile file(path);
    file.append_line("one");
    file.append_line("two");
    EXPECT_EQ(file.size(), 8U);
  }
  AppendFile file(path);
  EXPECT_EQ(file.size(), 8U);
  file.truncate(4);
  file.append_line("three");
  EXPECT_EQ(read_file(path), "one\nthree\n");
}

TEST(DirectoryLock, RefusesASecondProcessAndIsReleasedByDeath) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock lock(directory.path());
    ::kill(::getpid(), SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  try {
    const DirectoryLock lock(directory.path());
    FAIL() << "the lock was given twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find(std::to_string(child)), std::string::npos) << error.what();
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_NO_THROW(DirectoryLock(directory.path()));
}

TEST(Leftovers, OfKilledProcessesAreRemovedAndNothingElse) {
  const TemporaryDirectory directory;
  for (const char* name : {"summary.json", "summary.json.4711.tmp", "notes.tmp", "a.b.tmp", ".tmp"})
    replace_file(directory.path() / name, "text");
  remove_leftovers(directory.path());
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory.path())) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"summary.json", "notes.tmp", "a.b.tmp", ".tmp"}));
}

TEST(DirectoryLock, NoticesThatItsDirectoryWasRemovedOrReplaced) {
  const TemporaryDirectory directory;
  const fs::path place = directory.path() / "run";
  make_directories(place);
  const DirectoryLock lock(place);
  EXPECT_NO_THROW(lock.refuse_if_lost());
  fs::rename(place, directory.path() / "moved");
  EXPECT_THROW(lock.refuse_if_lost(), Error);
  make_directories(place);
  const DirectoryLock other(place);
  EXPECT_THROW(lock.refuse_if_lost(), Error) << "another process has begun there anew";
  EXPECT_NO_THROW(other.refuse_if_lost());
}

}  // namespace
}  // namespace eureka
