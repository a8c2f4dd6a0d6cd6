#include "io/training_column.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace eureka {

namespace {

struct Sides {
  std::string_view validation, training;
};

// Longer names first: "eval" holds "val".
constexpr std::array<Sides, 15> kSides{{{"validation", "training"},
                                        {"validation", "train"},
                                        {"valid", "train"},
                                        {"evaluation", "training"},
                                        {"eval", "training"},
                                        {"eval", "train"},
                                        {"eval_", ""},
                                        {"eval/", ""},
                                        {"test", "training"},
                                        {"test", "train"},
                                        {"test_", ""},
                                        {"val", "training"},
                                        {"val", "train"},
                                        {"val_", ""},
                                        {"val/", ""}}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

std::optional<std::string> training_column_of(const std::string& column, const std::vector<std::string>& available) {
  const std::string name = lower(column);
  for (const auto& [validation, training] : kSides) {
    const std::size_t at = name.find(validation);
    if (at == std::string::npos) continue;
    const std::string wanted = std::string(name).replace(at, validation.size(), training);
    const auto found =
        std::find_if(available.begin(), available.end(), [&](const std::string& one) { return lower(one) == wanted; });
    if (found != available.end()) return *found;
  }
  return std::nullopt;
}

}  // namespace eureka
