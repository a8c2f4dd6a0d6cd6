// A directory for as long as a target looks at it. The bytes are several files: a line "=== NAME" begins each.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace eureka::fuzz {

// Only names that a run or a study knows are believed.
inline constexpr std::array<std::string_view, 20> kFuzzedNames = {"config.toml",
                                                                  "metrics.jsonl",
                                                                  "events.jsonl",
                                                                  "meta.json",
                                                                  "summary.json",
                                                                  "origin.json",
                                                                  "checkpoints/step-10/DONE",
                                                                  "checkpoints/step-10/state.json",
                                                                  "checkpoints/step-10/model.safetensors",
                                                                  "checkpoints/step-10/optimizer.safetensors",
                                                                  "tb/events.out.tfevents.1.eureka",
                                                                  "study.toml",
                                                                  "study.json",
                                                                  "a/seed-1/config.toml",
                                                                  "a/seed-1/metrics.jsonl",
                                                                  "a/seed-1/events.jsonl",
                                                                  "a/seed-1/summary.json",
                                                                  "b/seed-1/config.toml",
                                                                  "b/seed-1/metrics.jsonl",
                                                                  "step-10/maps/attention.safetensors"};

class FuzzedDirectory {
 public:
  explicit FuzzedDirectory(std::string_view bytes) {
    std::string name = (fs::temp_directory_path() / "eureka-fuzz-XXXXXX").string();
    EUREKA_CHECK(::mkdtemp(name.data()) != nullptr, "there is a place for temporary files");
    path_ = name;
    constexpr std::string_view kMark = "=== ";
    while (!bytes.empty()) {
      const std::string_view line = take(bytes, "\n");
      if (!line.starts_with(kMark)) continue;
      const std::string_view content = take(bytes, "\n=== ", 1);
      const std::string_view file = line.substr(kMark.size());
      if (std::find(kFuzzedNames.begin(), kFuzzedNames.end(), file) == kFuzzedNames.end()) continue;
      fs::create_directories((path_ / file).parent_path());
      replace_file(path_ / file, content);
    }
  }
  ~FuzzedDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FuzzedDirectory(const FuzzedDirectory&) = delete;
  FuzzedDirectory& operator=(const FuzzedDirectory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  // What stands before `end`, which is taken away too but for all after its first `kept` letters.
  static std::string_view take(std::string_view& bytes, std::string_view end,
                               std::size_t kept = std::string_view::npos) {
    const std::size_t at = bytes.find(end);
    const std::string_view front = bytes.substr(0, at);
    bytes.remove_prefix(at == std::string_view::npos ? bytes.size() : at + std::min(kept, end.size()));
    return front;
  }

  fs::path path_;
};

}  // namespace eureka::fuzz
