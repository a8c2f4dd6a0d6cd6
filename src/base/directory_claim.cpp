#include "base/directory_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/output.h"

namespace eureka {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = 1024;
constexpr int kTries = 20;

// What the file says.
struct Claim {
  std::string host = "unknown";
  std::string process = "unknown";
  std::string boot;
  std::string text;  // with the count
};

// Opened anew each time: that is when a network file system looks what others have written.
std::optional<Claim> read_claim(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  char bytes[kMostBytes];
  const ssize_t got = ::read(descriptor, bytes, sizeof bytes);
  ::close(descriptor);
  Claim claim;
  if (got > 0) claim.text.assign(bytes, static_cast<std::size_t>(got));
  std::istringstream lines(claim.text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("host "))
      claim.host = line.substr(5);
    else if (line.starts_with("process "))
      claim.process = line.substr(8);
    else if (line.starts_with("boot "))
      claim.boot = line.substr(5);
  return claim;
}

std::string count_line(std::uint64_t count) { return fmt::format("count {:012}\n", count); }

Error in_use(const Claim& claim, const fs::path& directory) {
  return Error(ErrorKind::output,
               fmt::format("in use by another eureka process (process {} on {})", claim.process, claim.host),
               directory.string(), "wait for it to end, or choose another place with --out DIR");
}

// Until the claim is gone or has been silent for long enough: that one. Throws when it counts on.
std::optional<Claim> watch(const fs::path& file, Claim seen, const ClaimTiming& timing) {
  tell("eureka: {} was last used by process {} on {}; looking for up to {} s whether that one still lives\n",
       file.parent_path().string(), seen.process, seen.host,
       std::chrono::duration_cast<std::chrono::seconds>(timing.silence).count());
  for (const auto begin = Clock::now(); Clock::now() - begin < timing.silence;) {
    std::this_thread::sleep_for(std::min(timing.beat / 4, timing.silence / 8));
    const std::optional<Claim> now = read_claim(file);
    if (!now) return std::nullopt;
    if (now->text != seen.text) throw in_use(*now, file.parent_path());
  }
  return seen;
}

// Out of the way, if it still is what was seen; of several that try at once only one moves it.
void take_away(const fs::path& file, const Claim& seen) {
  std::random_device random;
  const fs::path aside = fs::path(file).concat(fmt::format(".{:08x}{:08x}.tmp", random(), random()));
  std::error_code ignored;
  fs::rename(file, aside, ignored);
  if (ignored) return;
  const std::optional<Claim> moved = read_claim(aside);
  // Somebody was faster, and this is the claim that one has made since: put it back, unless there is a newer one.
  if (moved && moved->text != seen.text) (void)!::link(aside.c_str(), file.c_str());
  fs::remove(aside, ignored);
}

}  // namespace

MachineIdentity this_machine() {
  MachineIdentity machine;
  char name[256] = {};
  machine.host = ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::getline(boot, machine.boot);
  return machine;
}

DirectoryClaim::DirectoryClaim(const fs::path& directory, const MachineIdentity& machine, ClaimTiming timing)
    : file_(directory / kClaimFile) {
  for (int attempt = 0; !make(machine); ++attempt) {
    std::optional<Claim> claim = read_claim(file_);
    if (attempt >= kTries)
      throw Error(ErrorKind::output, "cannot be claimed", file_.string(),
                  "remove that file if nobody uses the directory");
    if (!claim) continue;
    // A process of this machine would hold its lock, which is ours.
    const bool is_dead = !machine.boot.empty() && claim->boot == machine.boot;
    if (!is_dead) claim = watch(file_, *claim, timing);
    if (claim) take_away(file_, *claim);
  }
  if (descriptor_ >= 0) counter_ = std::thread([this, beat = timing.beat] { count_on(beat); });
}

// False when there is one already.
bool DirectoryClaim::make(const MachineIdentity& machine) {
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor_ < 0 && errno == EEXIST) return false;
  if (descriptor_ < 0) {
    if (errno == ENOSPC || errno == EDQUOT) return true;
    throw Error(ErrorKind::output, fmt::format("cannot be written: {}", std::strerror(errno)), file_.string(),
                "choose another place with --out DIR");
  }
  const std::string text =
      count_line(0) + fmt::format("host {}\nprocess {}\nboot {}\n", machine.host, ::getpid(), machine.boot);
  // On a full disk it stays empty: then it says nothing of its holder, but counts on all the same, or holds nothing up.
  (void)!::write(descriptor_, text.data(), text.size());
  return true;
}

void DirectoryClaim::count_on(std::chrono::milliseconds beat) {
  // Signals are for the threads that know what to do.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (std::uint64_t count = 1; !ending_.wait_for(lock, beat, [this] { return ends_; }); ++count) {
    const std::string line = count_line(count);
    // Into our own file even when it was moved away, so that nobody else's is touched.
    if (::pwrite(descriptor_, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()))
      ::fdatasync(descriptor_);
  }
}

bool DirectoryClaim::is_ours() const {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

void DirectoryClaim::refuse_if_lost() const {
  if (descriptor_ < 0 || is_ours()) return;
  const std::optional<Claim> claim = read_claim(file_);
  const std::string holder = claim ? fmt::format(": process {} on {}", claim->process, claim->host) : "";
  throw Error(ErrorKind::failed, "was taken over, since this process was silent for too long" + holder,
              file_.parent_path().string(), "what was computed since is lost: look whether that one still runs");
}

bool DirectoryClaim::is_foreign(const fs::path& directory, const MachineIdentity& machine) {
  const std::optional<Claim> claim = read_claim(directory / kClaimFile);
  return claim && (machine.boot.empty() || claim->boot != machine.boot);
}

DirectoryClaim::~DirectoryClaim() {
  if (counter_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    ending_.notify_all();
    counter_.join();
  }
  if (descriptor_ < 0) return;
  if (is_ours()) ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace eureka
