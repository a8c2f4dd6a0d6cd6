// eureka data show: a contact sheet of a task or a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eureka::cli {

struct ShowRequest {
  std::string name;
  std::int64_t samples = 16;
  std::string out;  // empty: NAME.png
  std::uint64_t seed = 1;
  std::string stream = "train";
  std::vector<std::string> overrides;
};

int show(const ShowRequest& request);

}  // namespace eureka::cli
