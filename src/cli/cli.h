// The command line: one file per verb. A verb adds its subcommand and, when chosen, runs and returns its exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "io/toml.h"
#include "train/catalog.h"

namespace eureka::cli {

// Exit codes, beside those of Error::exit_code().
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInterrupted = 4;
inline constexpr int kInternal = 70;

// Runs after parsing; returns the exit code.
using Action = std::function<int()>;

// Each adds its subcommand to `app` and sets `chosen` when it is the one asked for.
void add_train(CLI::App& app, Action& chosen);
void add_study(CLI::App& app, Action& chosen);
void add_branch(CLI::App& app, Action& chosen);
void add_detect(CLI::App& app, Action& chosen);
void add_condition(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_data(CLI::App& app, Action& chosen);

// Everything this program knows, without loading torch.
const Catalog& catalog();

// Becomes true on the first SIGINT or SIGTERM; a second one ends the process at once.
const std::atomic<bool>& stop_requested();

// --set section.key=value, repeatable.
ConfigEntries parse_overrides(const std::vector<std::string>& assignments);

}  // namespace eureka::cli
