// One trial as a child process that cannot outlive this one.
//
//   TrialProcess child(program, {"train", "--out", "studies/a/softmax/seed-1", "--resume"}, log);
//   poll() on child.descriptor(): readable when the child has made progress or has ended
//   if (!child.listen()) int status = child.wait();
//
// The two are joined by a pipe: the child writes the number of steps it has done, and the kernel closes the pipe when
// it ends in whatever way. So nobody has to ask, and an end is noticed at once. The child is killed by the kernel when
// this process dies, even by SIGKILL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace eureka {

class TrialProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // Runs `program` with `arguments` and "--heartbeat FD"; what it says goes to `log`. Throws Error(failed) when there
  // can be no further process.
  TrialProcess(const fs::path& program, std::vector<std::string> arguments, const fs::path& log);
  ~TrialProcess();  // kills it, if it still runs
  TrialProcess(TrialProcess&& other) noexcept;
  TrialProcess& operator=(TrialProcess&&) = delete;

  int descriptor() const { return pipe_; }

  // Takes in what the child has told since. False once it has ended (or is about to).
  bool listen();

  // waitpid's status, after the end.
  int wait();

  void send(int signal_number) const;

  std::int64_t steps() const { return steps_; }
  Clock::time_point started() const { return started_; }
  Clock::time_point last_progress() const { return last_progress_; }

 private:
  bool has_ended() const;

  pid_t child_ = -1;
  int pipe_ = -1;
  std::int64_t steps_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_progress_ = started_;
};

}  // namespace eureka
