// Claims of several machines on one directory: two of them are played here by identities of their own.
#include "base/directory_claim.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const MachineIdentity kHere{"here", "boot-1"};
const MachineIdentity kThere{"there", "boot-2"};
constexpr ClaimTiming kQuick{20ms, 400ms};
// For the one who meets a claim that lives: however busy the machine, it counts on before this has passed.
constexpr ClaimTiming kPatient{20ms, 60'000ms};

class DirectoryClaimTest : public testing::Test {
 protected:
  const fs::path& place() const { return directory_.path(); }
  fs::path file() const { return place() / kClaimFile; }
  void leave(const std::string& text) const { std::ofstream(file()) << text; }

  TemporaryDirectory directory_;
};

TEST_F(DirectoryClaimTest, IsThereWhileItIsHeldAndGoneAfterwards) {
  {
    const DirectoryClaim claim(place(), kHere, kQuick);
    EXPECT_THAT(read_file(file()), HasSubstr("host here"));
    EXPECT_NO_THROW(claim.refuse_if_lost());
    EXPECT_FALSE(DirectoryClaim::is_foreign(place(), kHere));
    EXPECT_TRUE(DirectoryClaim::is_foreign(place(), kThere));
  }
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(DirectoryClaimTest, OfAnotherMachineThatLivesIsRespected) {
  const DirectoryClaim claim(place(), kHere, kQuick);
  try {
    const DirectoryClaim second(place(), kThere, kPatient);
    FAIL() << "two machines hold one directory";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("on here"));
  }
  EXPECT_NO_THROW(claim.refuse_if_lost());
}

TEST_F(DirectoryClaimTest, OfAProcessOfThisMachineEndedWithIt) {
  leave("count 000000000007\nhost here\nprocess 1\nboot boot-1\n");
  // Nothing to wait for: a silence of an hour would be noticed.
  const DirectoryClaim claim(place(), kHere, {20ms, 3'600'000ms});
  EXPECT_NO_THROW(claim.refuse_if_lost());
}

TEST_F(DirectoryClaimTest, OfAnotherMachineIsTakenOverOnlyAfterItsSilence) {
  leave("count 000000000007\nhost there\nprocess 1\nboot boot-2\n");
  const auto begin = std::chrono::steady_clock::now();
  const DirectoryClaim claim(place(), kHere, kQuick);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kQuick.silence);
  EXPECT_THAT(read_file(file()), HasSubstr("host here"));
}

TEST_F(DirectoryClaimTest, KnowsNoTimesOfDay) {
  // An hour ahead, an hour behind: a dead claim is taken over, a living one is not, whatever its file's time says.
  for (const int hours : {-1, 1}) {
    const auto skew = [&] {
      timespec now{};
      ::clock_gettime(CLOCK_REALTIME, &now);
      const timespec times[2] = {{now.tv_sec + hours * 3600, 0}, {now.tv_sec + hours * 3600, 0}};
      ::utimensat(AT_FDCWD, file().c_str(), times, 0);
    };
    {
      const DirectoryClaim living(place(), kThere, kQuick);
      skew();
      EXPECT_THROW(DirectoryClaim(place(), kHere, kPatient), Error);
    }
    leave("count 000000000001\nhost there\nprocess 1\nboot boot-2\n");
    skew();
    EXPECT_NO_THROW(DirectoryClaim(place(), kHere, kQuick));
  }
}

TEST_F(DirectoryClaimTest, IsNoticedToBeLost) {
  const DirectoryClaim claim(place(), kHere, kQuick);
  fs::remove(file());
  leave("count 000000000000\nhost there\nprocess 5\nboot boot-2\n");
  try {
    claim.refuse_if_lost();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("process 5 on there"));
  }
}

TEST_F(DirectoryClaimTest, TheLoserDoesNotTouchTheClaimOfTheWinner) {
  const std::string theirs = "count 000000000000\nhost there\nprocess 5\nboot boot-2\n";
  {
    const DirectoryClaim claim(place(), kHere, kQuick);
    fs::remove(file());
    leave(theirs);
    std::this_thread::sleep_for(5 * kQuick.beat);
  }
  EXPECT_EQ(read_file(file()), theirs);
}

TEST_F(DirectoryClaimTest, OfSeveralThatTakeOverAtOnceOneWins) {
  leave("count 000000000007\nhost gone\nprocess 1\nboot boot-0\n");
  std::atomic<int> holding{0}, most{0}, won{0};
  std::vector<std::thread> machines;
  for (int i = 0; i < 4; ++i)
    machines.emplace_back([&, i] {
      try {
        const std::string name = "machine-" + std::to_string(i);
        const DirectoryClaim claim(place(), {name, name}, {20ms, 1500ms});
        most = std::max(most.load(), ++holding);
        ++won;
        std::this_thread::sleep_for(2s);
        --holding;
      } catch (const Error&) {
      }
    });
  for (std::thread& machine : machines) machine.join();
  EXPECT_GE(won.load(), 1);
  EXPECT_EQ(most.load(), 1);
}

TEST_F(DirectoryClaimTest, AFileThatSaysNothingIsTakenOverToo) {
  leave("");
  EXPECT_NO_THROW(DirectoryClaim(place(), kHere, kQuick));
}

TEST_F(DirectoryClaimTest, ALinkInItsPlaceIsRefused) {
  const fs::path victim = place() / "victim";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, file());
  EXPECT_THROW(DirectoryClaim(place(), kHere, {10ms, 100ms}), Error);
  EXPECT_EQ(read_file(victim), "precious");
}

}  // namespace
}  // namespace eureka
