// "did you mean": the nearest of a list of names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eureka {

// Letters inserted, removed, changed, or swapped with a neighbor.
int edit_distance(std::string_view a, std::string_view b);

// The nearest candidate, or "" when none is near enough to be a typing slip.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// "did you mean 'x'?" or, when nothing is near, "known: a, b, c".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace eureka
