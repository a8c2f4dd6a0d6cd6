// What a run is called when nobody says: after its preset and what differs from it.
//
//   two-step                                                             two-step-seed0
//   two-step, attention.scale.kind=half-cosine, attention.scale.from=24  two-step-half-cosine-24-seed0
//   two-step, attention.rule=qk_norm, train.lr=0.001, seed 3             two-step-qk_norm-lr-0.001-seed3
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/files.h"
#include "train/config.h"

namespace eureka::cli {

// Of some settings: "half-cosine-24". A choice of a kind stands by itself, and so does what belongs to it; any other
// setting is named by the last word of its key. Fit for a file, and short. Who looks on (diagnose) and how it is
// computed (run) has no part in it. Empty for none.
std::string settings_name(const std::map<std::string, OptionValue>& settings);

// The values of those overrides that make the config another one than its base, and of those that are said of a choice
// which does.
std::map<std::string, OptionValue> real_changes(const RunConfig& base, const RunConfig& config,
                                                const ConfigEntries& overrides);

// Of a preset, a file or a run that is repeated, whose own seed and number are no part of it.
std::string base_name(const std::string& source);

// "runs/two-step-seed0"; where that is taken "runs/two-step-seed0-2", and so on, which is said on standard error. The
// directory is made at once, so that nobody else takes it, and goes with this if nothing has come into it.
class ClaimedDirectory {
 public:
  explicit ClaimedDirectory(const fs::path& wanted);
  ~ClaimedDirectory();
  ClaimedDirectory(const ClaimedDirectory&) = delete;
  ClaimedDirectory& operator=(const ClaimedDirectory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Of the directories that were claimed by one name the last of which `is_it` is true; `wanted` if none is.
fs::path find_directory(const fs::path& wanted, const std::function<bool(const fs::path&)>& is_it);

// Is the run in the directory one of this config?
bool holds_run(const fs::path& directory, const RunConfig& config);

}  // namespace eureka::cli
