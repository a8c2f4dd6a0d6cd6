#include "base/process_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>
#include <iterator>

namespace eureka {
namespace {

constexpr const char* kUnknown = "unknown";

std::string quoted(const std::string& word) {
  bool plain = !word.empty();
  for (const char c : word)
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) ||
                      std::string_view("-_./=@,:+%").find(c) != std::string_view::npos);
  if (plain) return word;
  std::string out;
  for (const char c : word) {
    if (c == '\'') out.append("'\\'");
    out.push_back(c);
  }
  return fmt::format("'{}'", out);
}

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string line;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\0', begin), bytes.size());
    if (!line.empty()) line.push_back(' ');
    line.append(quoted(bytes.substr(begin, end - begin)));
    begin = end + 1;
  }
  return line.empty() ? kUnknown : line;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return kUnknown;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : kUnknown;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace eureka
