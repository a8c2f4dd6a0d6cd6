// The batch scripts of a study on a Slurm cluster, as texts that people can read, change and submit again by hand.
//
//   atomic_write(place / "trials-1-0.sh", trials_script(job, options));
//
// A task of the array runs one line of a list of tasks (lab/study_tasks.h). Before its time is up it saves its
// checkpoints and queues itself again; one that Slurm queues again (a lost node, preemption) goes on where it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/options.h"

namespace eureka {

// What a study asks of Slurm: [study.slurm] in its file, or the command line. Empty or 0: the cluster's own default.
struct SlurmOptions {
  std::string partition;
  std::string account;
  std::string time;
  std::string mem;
  int cpus = 1;
  int max_running = 0;
  int grace = 60;
  double minutes_per_task = 10;
  std::int64_t trials_per_task = 0;
  std::string sbatch;

  template <class V>
  void visit(V& v) {
    v("partition", partition, "partition of the tasks");
    v("account", account, "account they are charged to");
    v("time", time, "time limit of a task, as sbatch takes it: 30, 2:00:00, 1-12");
    v("mem", mem, "memory of a task, as sbatch takes it: 2G");
    v("cpus", cpus, Range{1, 1024}, "processors of a task, which runs as many trials at a time as they allow");
    v("max_running", max_running, Range{0, 1e6}, "tasks at a time; 0: as many as Slurm starts");
    v("grace", grace, Range{1, 65535},
      "seconds before the time limit at which trials save checkpoints; Slurm takes it as no less");
    v("minutes_per_task", minutes_per_task, Range{0, 1e5}, "short trials are packed until a task takes about so long");
    v("trials_per_task", trials_per_task, Range{0, 1e5}, "so many trials to a task; 0: as minutes_per_task has it");
    v("sbatch", sbatch, "further options of sbatch, as on its command line");
  }
};

// One job array.
struct SlurmArray {
  std::string study;      // its name
  fs::path program;       // eureka
  fs::path tasks;         // the list
  std::size_t first = 0;  // line of the list that task 0 runs
  std::size_t count = 0;  // of tasks
  int trials_at_a_time = 1;
  fs::path logs;  // directory
};

std::string trials_script(const SlurmArray& array, const SlurmOptions& options);

// Runs when all arrays have ended, however: writes study.json and the report, or, where these were the runs to
// continue, submits the trials that continue them.
std::string finish_script(const std::string& study, const fs::path& program, const fs::path& out, const fs::path& logs,
                          bool submits_the_rest, const SlurmOptions& options);

// So many arrays that none is larger than the cluster allows.
std::vector<std::size_t> array_sizes(std::size_t tasks, std::size_t largest);

}  // namespace eureka
