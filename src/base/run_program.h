// Programs of others: what fetches data (npm, apt-get, dpkg-deb, bible), what a cluster has (sbatch, squeue).
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace eureka {

inline constexpr int kProgramNotFound = 127;

// Runs a program inside `directory` with all its output in the new file `log`; returns its exit code.
int run_program(std::vector<std::string> words, const fs::path& directory, const fs::path& log);

// The eureka that runs, for starting another one.
fs::path this_program();

}  // namespace eureka
