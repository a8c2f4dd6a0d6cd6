#include "lab/slurm_script.h"

#include <fmt/format.h>

#include <algorithm>

namespace eureka {
namespace {

// Until Slurm has ended a task that has queued itself again.
constexpr int kPatienceSeconds = 60;

// For bash: in single quotes, which only a quote itself can end.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string directive(const std::string& option, const std::string& value) {
  return value.empty() ? "" : fmt::format("#SBATCH --{}={}\n", option, value);
}

// In a directive a name ends at a blank, and % begins a pattern.
std::string job_name(const std::string& study) {
  std::string name = "eureka-" + study;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '%' || c == '"' || c == '\''; }, '_');
  return name;
}

std::string log_pattern(const fs::path& logs, const char* pattern) {
  std::string text = "\"";
  for (const char c : logs.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text + "/" + pattern + "\"";
}

std::string common_directives(const SlurmOptions& options) {
  std::string text = directive("partition", options.partition) + directive("account", options.account);
  if (!options.sbatch.empty()) text += fmt::format("#SBATCH {}\n", options.sbatch);
  return text;
}

}  // namespace

std::string trials_script(const SlurmArray& array, const SlurmOptions& options) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# Trials of the study '{}': a task of this array runs one line of a list of tasks.\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=0-{}{}\n"
      "#SBATCH --cpus-per-task={}\n",
      array.study, job_name(array.study), array.count - 1,
      options.max_running > 0 ? fmt::format("%{}", options.max_running) : "", options.cpus);
  text += directive("mem", options.mem) + directive("time", options.time);
  text += fmt::format(
      "#SBATCH --signal=B:USR1@{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output={}\n",
      options.grace, log_pattern(array.logs, "%A_%a.log"));
  text += common_directives(options);
  text += fmt::format(
      "\n"
      "{} trial {} $((SLURM_ARRAY_TASK_ID + {})) --jobs {} &\n"
      "trials=$!\n"
      "# Its time is nearly up: it saves checkpoints, and is queued again.\n"
      "trap 'out_of_time=yes; kill -TERM $trials' USR1\n"
      "# Slurm tells the trials itself; this shell waits for them.\n"
      "trap : TERM\n"
      "wait $trials\n"
      "while kill -0 $trials 2> /dev/null; do wait $trials; done\n"
      "wait $trials; code=$?\n"
      "if [ \"$out_of_time\" = yes ] && [ $code = 4 ]; then scontrol requeue \"$SLURM_JOB_ID\"; sleep {}; fi\n"
      "exit $code\n",
      quoted(array.program.string()), quoted(array.tasks.string()), array.first, array.trials_at_a_time,
      kPatienceSeconds);
  return text;
}

std::string finish_script(const std::string& study, const fs::path& program, const fs::path& out, const fs::path& logs,
                          bool submits_the_rest, const SlurmOptions& options) {
  const std::string place = quoted(out.string());
  const std::string eureka = quoted(program.string());
  return fmt::format(
             "#!/bin/bash\n"
             "# Runs when all trials of the study '{}' have ended, well or badly.\n"
             "#SBATCH --job-name={}-end\n"
             "#SBATCH --cpus-per-task=1\n"
             "#SBATCH --output={}\n",
             study, job_name(study), log_pattern(logs, "%j.log")) +
         common_directives(options) +
         (submits_the_rest ? fmt::format("\n{} study --out {} --slurm --resume\n", eureka, place)
                           : fmt::format("\n{0} study --out {1} --collect; code=$?\n"
                                         "{0} report {1} -o {1}/report.html\n"
                                         "exit $code\n",
                                         eureka, place));
}

std::vector<std::size_t> array_sizes(std::size_t tasks, std::size_t largest) {
  std::vector<std::size_t> sizes;
  for (; tasks > 0; tasks -= sizes.back()) sizes.push_back(std::min(tasks, std::max<std::size_t>(1, largest)));
  return sizes;
}

}  // namespace eureka
