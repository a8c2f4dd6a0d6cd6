// origin.json: the run and the checkpoint a branch continues, and its change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace eureka {

struct BranchOrigin {
  std::string run;  // absolute path
  std::int64_t step = 0;
  std::vector<std::pair<std::string, std::string>> change;  // key and value as TOML; for people
  std::string parameters_by;                                // who changed the parameters outside of Eureka; else empty
};

// The whole text of origin.json.
std::string to_text(const BranchOrigin& origin);

// Throws Error(input) at `where` that names the field which is missing or of another type.
BranchOrigin parse_origin(std::string_view text, const std::string& where);

// Nothing when the run is no branch.
std::optional<BranchOrigin> read_origin(const fs::path& run_directory);

}  // namespace eureka
