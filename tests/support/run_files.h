// The files of a run or a study that must be the same however often it was disturbed.
#pragma once

#include <map>
#include <string>

#include "base/files.h"

namespace eureka {

// By path below `directory`. Left out: what names times, hosts and processes (meta.json, tb/, .lock, .lock-owner, the
// events of a study, what a trial said).
inline std::map<std::string, std::string> repeatable_files(const fs::path& directory) {
  std::map<std::string, std::string> files;
  const bool is_study = fs::exists(directory / "study.toml");
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const fs::path place = entry.path().lexically_relative(directory);
    const bool told_by_clock = name == "meta.json" || name == ".lock" || name == ".lock-owner" || name == "trial.log" ||
                               entry.path().parent_path().filename() == "tb" || (is_study && place == "events.jsonl");
    if (entry.is_regular_file() && !told_by_clock) files[place.string()] = read_file(entry.path());
  }
  return files;
}

}  // namespace eureka
