#include "lab/trial_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <vector>

#include "base/error.h"

namespace eureka {
namespace {

constexpr std::size_t kLastLines = 3;

}  // namespace

std::string said_in(const fs::path& log) {
  try {
    return read_file(log, 1 << 20);
  } catch (const Error&) {
    return {};
  }
}

std::string last_words(const fs::path& log) {
  std::vector<std::string> lines;
  std::istringstream text(said_in(log));
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  if (lines.empty()) return {};
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return fmt::format("; its last words: {}", fmt::join(lines, " | "));
}

}  // namespace eureka
