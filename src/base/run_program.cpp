#include "base/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace eureka {

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

int run_program(std::vector<std::string> words, const fs::path& directory, const fs::path& log) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(ErrorKind::failed, fmt::format("cannot start {}", words.front()));
  if (child == 0) {
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (out >= 0 && nothing >= 0 && ::chdir(directory.c_str()) == 0) {
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::execvp(pointers[0], pointers.data());
    }
    ::_exit(kProgramNotFound);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace eureka
