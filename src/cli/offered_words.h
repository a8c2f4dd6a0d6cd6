// What completion offers where a verb takes more than its own words.
#pragma once

#include <string>
#include <vector>

namespace eureka::cli {

std::vector<std::string> run_presets();
std::vector<std::string> study_presets();
// "train.lr=", "attention.rule=", ...: every option of every section and plug-in.
std::vector<std::string> settings();
std::vector<std::string> diagnostic_names();

}  // namespace eureka::cli
