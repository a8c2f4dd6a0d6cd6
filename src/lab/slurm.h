// A study on a Slurm cluster: submitted once, then only looked at. The run directories on the shared file system are
// the state of the study; slurm/ in its directory holds what was submitted (lists of tasks, scripts, job numbers,
// logs).
//
//   const SlurmSubmission submission = submit_study(study, pending, out, options, program);
//   queue_of(out).tasks_running ...
//   cancel_jobs(out);
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/run_study.h"
#include "lab/slurm_script.h"

namespace eureka {

// What squeue says of the jobs of a study.
struct SlurmQueue {
  std::size_t waiting = 0;  // tasks
  std::size_t running = 0;
  bool is_finishing = false;     // the last task waits or runs
  std::set<fs::path> trials;     // below the study's directory, of tasks that wait or run
  std::vector<std::string> why;  // reasons Slurm gives for waiting, each once
  bool empty() const { return waiting + running == 0 && !is_finishing; }
};

struct SlurmSubmission {
  std::vector<std::string> jobs;  // arrays
  std::string finish;             // the last job
  std::size_t tasks = 0;
  std::size_t trials = 0;
  std::size_t queued_before = 0;  // trials that an earlier submission still has in the queue
};

// Throws Error(usage) when there is no Slurm here, with what to do instead.
void require_slurm();

// Submits what no earlier submission has in the queue. Nothing pending: nothing is submitted, and `jobs` is empty.
// Throws Error(failed) with what sbatch said.
SlurmSubmission submit_study(const Study& study, const PendingTrials& pending, const fs::path& out,
                             const SlurmOptions& options, const fs::path& program);

SlurmQueue queue_of(const fs::path& out);

// Returns how many jobs were told to stop. Trials under way save their checkpoints first.
std::size_t cancel_jobs(const fs::path& out);

}  // namespace eureka
