// One run on the terminal, for the verbs that train: the growing curve, the summary, the exit code.
#pragma once

#include "cli/cli.h"
#include "train/run.h"

namespace eureka::cli {

struct ShowOptions {
  std::string number;  // of a diagnostic, below the curve; its diagnostic must be among those of the config
  bool json = false;
  bool quiet = false;
  int heartbeat = -1;
};

int run_and_show(const RunConfig& config, const RunRequest& request, const ShowOptions& options);

// What run_and_show printed at the end, again from the directory; of a run that has not ended, how it stands.
int show_run(const fs::path& directory, const ShowOptions& options);

// --show alone.
void add_shown_number(Command& verb, ShowOptions& options);

// --show, --json, --quiet, and the hidden --heartbeat.
void add_show_options(Command& verb, ShowOptions& options);

}  // namespace eureka::cli
