// The verbs, one file each: a verb declares its arguments and what is done with them.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "io/toml.h"
#include "train/catalog.h"

namespace eureka::cli {

// Exit codes, beside those of Error::exit_code().
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInterrupted = 4;
inline constexpr int kInternal = 70;

// Each adds its verb.
void add_train(Command& program);
void add_study(Command& program);
void add_trial(Command& program);
void add_branch(Command& program);
void add_look(Command& program);
void add_detect(Command& program);
void add_condition(Command& program);
void add_list(Command& program);
void add_bench(Command& program);
void add_doctor(Command& program);
void add_data(Command& program);
void add_report(Command& program);
void add_serve(Command& program);
void add_show(Command& program);
void add_compare(Command& program);
void add_diagnose(Command& program);
// Completion, manual pages and help, of all that `line` declares.
void add_completion(Command& program, const CommandLine& line);

// Everything this program knows, without loading torch.
const Catalog& catalog();

// Becomes true on the first SIGINT or SIGTERM; a second one ends the process at once.
const std::atomic<bool>& stop_requested();

// --set section.key=value, repeatable.
ConfigEntries parse_overrides(const std::vector<std::string>& assignments);

// "runs/a@1000": a run and which of its checkpoints; `at` is empty when nothing is said of them.
struct RunSource {
  std::filesystem::path run;
  std::string at;
};
RunSource split_source(const std::string& source);

// Nothing when the text is no number of updates.
std::optional<std::int64_t> parse_step(std::string_view text);

}  // namespace eureka::cli
