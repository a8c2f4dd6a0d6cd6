// A study whose trials run elsewhere: as a job array of Slurm, or by whatever can count through a list of tasks.
#pragma once

#include <optional>

#include "cli/cli.h"
#include "lab/run_study.h"

namespace eureka::cli {

struct ElsewhereOptions {
  bool plan = false;
  bool slurm = false;
  bool status = false;
  bool wait = false;
  bool cancel = false;
  bool collect = false;
  std::string partition, account, time, mem, sbatch;
  std::int64_t cpus = 0, max_running = -1, trials_per_task = -1, grace = 0;
  double minutes_per_task = -1;

  bool asked() const { return plan || slurm || only_looks(); }
  // At a study that is there.
  bool only_looks() const { return status || wait || cancel || collect; }
};

void add_elsewhere_options(Command& verb, ElsewhereOptions& options);

// What the command line says, over [study.slurm].
void overlay(const ElsewhereOptions& options, SlurmOptions& slurm);

int study_elsewhere(const Study& study, const StudyRequest& request, const ElsewhereOptions& options, bool json);

// Failures to standard error.
void tell_failures(const StudyOutcome& outcome);

// The report, as a table or as study.json, and what failed.
void print_outcome(const StudyOutcome& outcome, const fs::path& out, bool json,
                   const std::vector<std::string>& curves = {});

}  // namespace eureka::cli
