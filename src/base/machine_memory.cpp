#include "base/machine_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace eureka {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The number behind `name` in lines of "name value".
std::optional<double> named_number(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    double value = 0;
    if (words >> word >> value && word == name) return value;
  }
  return std::nullopt;
}

// A file that holds one number; "max" is none.
std::optional<double> only_number(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

// How the two kinds of control groups call the same things.
struct GroupFiles {
  const char *place, *limit, *usage, *cached;
};
constexpr GroupFiles kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

// A limit of a group holds for all groups inside.
void apply_limits(const fs::path& root, const GroupFiles& files, fs::path group, MachineMemory& memory) {
  for (;; group = group.parent_path()) {
    const fs::path folder = root / files.place / group.relative_path();
    if (const auto limit = only_number(folder / files.limit)) {
      const double used = only_number(folder / files.usage).value_or(0) -
                          named_number(folder / "memory.stat", files.cached).value_or(0);
      memory.total = std::min(memory.total, *limit);
      memory.available = std::min(memory.available, std::max(0.0, *limit - std::max(0.0, used)));
    }
    if (group.empty() || group == group.parent_path()) return;
  }
}

}  // namespace

MachineMemory machine_memory(const fs::path& root) {
  const fs::path facts = root / "proc/meminfo";
  const auto bytes = [&](const char* name) { return named_number(facts, name).value_or(kUnlimited) * 1024; };
  MachineMemory memory{.total = bytes("MemTotal:"), .available = bytes("MemAvailable:")};
  // Lines of "number:controllers:/path"; version 2 has the number 0 and names no controllers.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") apply_limits(root, kVersion2, group, memory);
    if (controllers.find(",memory,") != std::string::npos) apply_limits(root, kVersion1, group, memory);
  }
  memory.available = std::min(memory.available, memory.total);
  return memory;
}

std::string memory_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  return fmt::format("{:.0f} MB", std::max(1.0, bytes / 1e6));
}

}  // namespace eureka
