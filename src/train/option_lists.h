// Options that hold several names or numbers: "query_key, value", "0, 2".
#pragma once

#include <string>
#include <vector>

namespace eureka {

// Without the spaces around them; empty ones are left out.
std::vector<std::string> split_names(const std::string& text);

// Whole numbers from 0 on. Throws Error(config) at `where` that names the option.
std::vector<int> parse_indices(const std::string& text, const std::string& option, const std::string& where = {});

}  // namespace eureka
