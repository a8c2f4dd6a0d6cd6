// Processes of others, as /proc shows them.
#pragma once

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace eureka {

inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failure)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // "pid (name) state parent ...": the name may hold anything, so from behind it.
    const std::size_t behind = text.rfind(')');
    if (behind == std::string::npos || text.size() < behind + 4) continue;
    if (std::stoi(text.substr(behind + 3)) == parent) children.push_back(std::stoi(name));
  }
  return children;
}

}  // namespace eureka
