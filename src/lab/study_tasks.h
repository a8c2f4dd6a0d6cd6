// What is left of a study as a list of tasks that can run anywhere: a file with a line of JSON for each. Whatever can
// count runs it: the job array of a scheduler, GNU parallel, a loop.
//
//   atomic_write(file, task_list(pack_trials(study, out, trials, 4)));
//   StudyTask task = read_task("tasks.jsonl", 17, catalog);             `eureka trial tasks.jsonl 17`
//
// A line holds all there is to know of its trials, so nothing of the study need be there but the place. All lines are
// equally long, so that a task finds its own without reading thousands of others from the network; a list that was
// shortened or put together by hand is read from its beginning.
#pragma once

#include <string>
#include <vector>

#include "lab/study_plan.h"

namespace eureka {

// Trials that run one after another, or a few at a time.
struct StudyTask {
  fs::path study;  // absolute
  double timeout_seconds = 300;
  std::vector<Trial> trials;
};

// In order, so many to a task.
std::vector<StudyTask> pack_trials(const Study& study, const fs::path& out, const std::vector<Trial>& trials,
                                   std::size_t trials_per_task);

std::string task_list(const std::vector<StudyTask>& tasks);

// Line `index` of the file, from 0. Throws Error(input) that
// says how many there are, or what is wrong with it.
StudyTask read_task(const fs::path& file, std::size_t index, const Catalog& catalog);

}  // namespace eureka
