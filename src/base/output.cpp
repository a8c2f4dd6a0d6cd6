#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace eureka {
namespace {

[[noreturn]] void refuse_to_lose_results() {
  throw Error(ErrorKind::failed, fmt::format("the results cannot be written: {}", std::strerror(errno)),
              "standard output");
}

}  // namespace

void detail::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) refuse_to_lose_results();
}

void detail::tell(std::string_view text) {
  // What is printed so far comes first where both go to the same place; its failure is told by finish_output().
  (void)!std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

void finish_output() {
  if (std::fflush(stdout) != 0) refuse_to_lose_results();
}

void open_standard_streams() {
  // The lowest free number is the one that is asked for. Writing to standard output fails, as it would have: results
  // are not lost in silence.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)!::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace eureka
