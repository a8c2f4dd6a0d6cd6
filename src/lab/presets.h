// Where a config comes from when a person names one: a preset compiled into the program, or a file.
#pragma once

#include <string>
#include <vector>

#include "io/toml.h"

namespace eureka {

struct ConfigSource {
  std::string text;
  std::string file_name;  // for error messages
  std::string name;       // of the preset, or of the file without folder and extension
};

struct PresetInfo {
  std::string name;
  std::string description;  // the comment on its first line
  bool is_study = false;
};

std::vector<PresetInfo> list_presets();

// The preset of that name, or the file of that path. Throws Error(input) with "did you mean" when there is neither.
ConfigSource find_config(const std::string& preset_or_path);

}  // namespace eureka
