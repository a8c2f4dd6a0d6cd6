// Readers of whole directories.
#include <cmath>

#include "base/embedded.h"
#include "fuzz/fuzzed_directory.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "io/curve_file.h"
#include "lab/run_study.h"
#include "lab/study_plan.h"
#include "lab/study_tasks.h"
#include "lab/trial_row.h"
#include "train/records/branch_origin.h"
#include "train/run_directory.h"

namespace eureka::fuzz {
namespace {

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

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

// A task for another machine, as `eureka trial` reads it.
void task_list(std::string_view bytes) {
  const MemoryFile file(bytes);
  for (std::size_t index = 0; index < 2; ++index)
    allow_errors([&] {
      const StudyTask task = read_task(file.path(), index, catalog());
      for (const Trial& trial : task.trials)
        EUREKA_CHECK(!trial.directory.lexically_relative(task.study).string().starts_with(".."),
                     "a trial lies in its study");
    });
}

}  // namespace

std::vector<FuzzTarget> directory_targets() {
  return {{"run_directory", run_directory}, {"study", study}, {"task_list", task_list}};
}

}  // namespace eureka::fuzz
