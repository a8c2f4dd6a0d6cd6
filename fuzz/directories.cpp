// Readers of whole directories. The bytes are several files: a line "=== NAME" begins each.
#include <stdlib.h>

#include <algorithm>
#include <array>

#include "base/embedded.h"
#include "fuzz/targets.h"
#include "io/curve_file.h"
#include "lab/run_study.h"
#include "lab/study_plan.h"
#include "lab/trial_row.h"
#include "train/records/branch_origin.h"
#include "train/run_directory.h"

namespace eureka::fuzz {
namespace {

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

// Only names that a run or a study knows are believed.
constexpr std::array<std::string_view, 13> kNames = {"config.toml",
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
                                                     "a/seed-1/config.toml"};

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
      if (std::find(kNames.begin(), kNames.end(), file) == kNames.end()) continue;
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

// All that resuming, branching and a study's report would read, and the logs cut back to the checkpoint.
void run_directory(std::string_view bytes) {
  const FuzzedDirectory directory(bytes);
  const fs::path& path = directory.path();
  allow_errors([&] { load_curve(path, std::nullopt, std::nullopt); });
  allow_errors([&] { read_metrics(path); });
  allow_errors([&] { read_events(path); });
  allow_errors([&] { read_meta(path); });
  allow_errors([&] { read_summary(path); });
  allow_errors([&] { read_origin(path); });
  allow_errors([&] { read_checkpoint(path, 10); });
  allow_errors([&] {
    const RunConfig config = read_run_config(path, catalog());
    EUREKA_CHECK(to_toml(config) == to_toml(resolve_config(read_toml(to_toml(config), "again"), catalog())),
                 "a config that was read can be written and read again");
    RunDirectory run = RunDirectory::reopen(path, config);
    run.rewind(read_checkpoint(path, 10).loop);
  });
}

void study(std::string_view bytes) {
  const FuzzedDirectory directory(bytes);
  allow_errors([&] {
    const Study read = read_study_directory(directory.path());
    const std::string text = to_toml(read);
    EUREKA_CHECK(to_toml(read_study({text, "again", read.name})) == text, "a study that was read can be written again");
    constexpr std::size_t kMostTrials = 100;
    if (read.seeds.size() * read.points.size() * read.arms.size() > kMostTrials || read.base != "two-step") return;
    std::vector<Trial> trials = plan_trials(read, catalog(), directory.path());
    refuse_other_trials(trials);
  });
}

}  // namespace

std::vector<FuzzTarget> directory_targets() { return {{"run_directory", run_directory}, {"study", study}}; }

}  // namespace eureka::fuzz
