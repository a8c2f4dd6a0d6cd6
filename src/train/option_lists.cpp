#include "train/option_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace eureka {

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

std::vector<int> parse_indices(const std::string& text, const std::string& option, const std::string& where) {
  std::vector<int> indices;
  for (const std::string& one : split_names(text)) {
    int index = -1;
    const auto [end, problem] = std::from_chars(one.data(), one.data() + one.size(), index);
    if (problem != std::errc() || end != one.data() + one.size() || index < 0)
      throw Error(ErrorKind::config, fmt::format("'{}' must be whole numbers from 0 on, not '{}'", option, one), where,
                  "for example \"0\", or \"0, 2\"");
    indices.push_back(index);
  }
  return indices;
}

}  // namespace eureka
