#include "cli/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/output.h"
#include "base/run_program.h"

namespace eureka::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

// That of this process, but as torchrun would have it for `place`.
std::vector<std::string> environment_of(const RankPlace& place) {
  const std::vector<std::string> own = {
      fmt::format("WORLD_SIZE={}", place.size),       fmt::format("RANK={}", place.rank),
      fmt::format("LOCAL_RANK={}", place.local_rank), fmt::format("MASTER_ADDR={}", place.address),
      fmt::format("MASTER_PORT={}", place.port),      "TORCHELASTIC_USE_AGENT_STORE=False"};
  std::vector<std::string> all = own;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry = *one;
    const auto is_same = [&](const std::string& mine) {
      return entry.starts_with(std::string_view(mine).substr(0, mine.find('=') + 1));
    };
    if (std::none_of(own.begin(), own.end(), is_same)) all.emplace_back(entry);
  }
  return all;
}

// Between fork and exec: only calls that are safe after a fork.
[[noreturn]] void become(char* const* words, char* const* environment, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
  }
  ::execve(words[0], words, environment);
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

RankProcesses::RankProcesses(int size) {
  const int port = free_port();
  own_place_ = place_on_this_machine(0, size, port);
  std::vector<std::string> words = {this_program().string(), "train"};
  const pid_t parent = ::getpid();
  for (int rank = 1; rank < size; ++rank) {
    std::vector<std::string> environment = environment_of(place_on_this_machine(rank, size, port));
    const std::vector<char*> word_pointers = pointers(words), environment_pointers = pointers(environment);
    const pid_t child = ::fork();
    if (child == 0) become(word_pointers.data(), environment_pointers.data(), parent);
    if (child < 0) throw Error(ErrorKind::failed, fmt::format("cannot start rank {}", rank));
    children_.push_back(child);
  }
}

RankProcesses::~RankProcesses() {
  const bool failing = std::uncaught_exceptions() > 0;
  const auto until = std::chrono::steady_clock::now() + (failing ? 0s : kPatience);
  for (std::size_t i = 0; i < children_.size(); ++i) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(children_[i], &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(5ms);
    if (ended == 0) {
      ::kill(children_[i], SIGKILL);
      ::waitpid(children_[i], &status, 0);
    } else if (WIFSIGNALED(status)) {
      tell("eureka: rank {} was killed by signal {}\n", i + 1, WTERMSIG(status));
    }
  }
}

}  // namespace eureka::cli
