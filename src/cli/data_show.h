// eureka data show: a contact sheet of an image task or a data set, a table of any other task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eureka::cli {

struct ShowRequest {
  std::string name;
  std::optional<std::int64_t> samples;  // not given: 16 in a picture, 2 in a table
  std::string out;                      // of the picture; empty: NAME.png
  std::uint64_t seed = 1;
  std::string stream = "train";
  std::vector<std::string> overrides;
};

int show(const ShowRequest& request);

}  // namespace eureka::cli
