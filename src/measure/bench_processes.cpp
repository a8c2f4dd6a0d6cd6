#include "measure/bench_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/embedded.h"
#include "base/error.h"
#include "base/run_program.h"
#include "io/json.h"

namespace eureka {
namespace {

struct Pipe {
  Pipe() {
    // Not for the children that come later: an end held by another keeps a process waiting for input that never ends.
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::failed, "cannot make a pipe");
  }
  int ends[2];
};

// One line, without its end; empty at the end of the stream.
std::string read_line(std::FILE* from) {
  std::string line;
  for (int c = std::fgetc(from); c != EOF && c != '\n'; c = std::fgetc(from)) line.push_back(static_cast<char>(c));
  return line;
}

}  // namespace

namespace {

void describe_sequence_model(const BenchCase& one, const TransformerPlan& plan, Json& size) {
  const Batch batch = bench_batch(one);
  const TransformerOptions& options = plan.options;
  const auto name = [](auto value) { return std::string(enum_names(value)[static_cast<std::size_t>(value)]); };
  size["everywhere"] = true;
  size["causal"] = plan.causal;
  size["vocabulary"] = plan.shape.vocabulary;
  size["squared"] = plan.shape.loss == LossKind::squared;
  const auto answers = static_cast<std::size_t>(one.batch * plan.shape.labels());
  size["asked"] = std::max<std::int64_t>(1, static_cast<std::int64_t>(batch.asked_count(answers)) / one.batch);
  size["norm"] = name(options.norm);
  size["activation"] = name(options.activation);
  size["positions"] = name(options.positions);
  size["tied"] = options.tied_head;
}

}  // namespace

PyTorch::PyTorch(const BenchCase& one, const PyTorchSettings& settings) : python_(settings.python) {
  // A Python that is not there is told by the answer that does not come.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe requests, answers;
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(requests.ends[0], STDIN_FILENO);
    ::dup2(answers.ends[1], STDOUT_FILENO);
    for (const Pipe* pipe : {&requests, &answers})
      for (const int end : pipe->ends) ::close(end);
    std::string script;
    for (const EmbeddedFile& file : pytorch::files()) script += file.text;
    if (!settings.python.empty()) {
      ::execlp(settings.python.c_str(), settings.python.c_str(), "-c", script.c_str(), nullptr);
      ::_exit(127);
    }
    // Debian's own Python, which Debian's python3-torch belongs to, before any other on the path.
    ::execl("/usr/bin/python3", "/usr/bin/python3", "-c", script.c_str(), nullptr);
    ::execlp("python3", "python3", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(requests.ends[0]);
  ::close(answers.ends[1]);
  to_ = ::fdopen(requests.ends[1], "w");
  from_ = ::fdopen(answers.ends[0], "r");
  const TransformerPlan plan = one.plan();
  Json size{{"tokens", plan.given},
            {"dimension", plan.dimension},
            {"classes", plan.shape.classes},
            {"width", plan.options.width},
            {"hidden", plan.options.mlp_width()},
            {"heads", plan.options.heads},
            {"depth", plan.options.depth},
            {"batch", one.batch}};
  const ImageShape& image = plan.shape.image;
  if (plan.patch > 0 && !settings.as_tokens)
    size["image"] = {
        {"height", image.height}, {"width", image.width}, {"channels", image.channels}, {"patch", plan.patch}};
  if (plan.shape.every_position) describe_sequence_model(one, plan, size);
  const Json made = ask({{"make", size}, {"way", settings.way}});
  if (made.contains("cannot")) {
    cannot_ = made.at("cannot").get<std::string>();
    return;
  }
  version_ = made.at("version").get<std::string>();
  way_ = made.at("way").get<std::string>();
}

PyTorch::~PyTorch() {
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(child_, nullptr, 0);
}

void PyTorch::steps(std::size_t count, StepTimes& times) {
  const Json answer = ask({{"steps", count}});
  for (const Json& ms : answer.at("ms")) times.ms.push_back(ms.get<double>());
  times.cpu_ms += answer.at("cpu_ms").get<double>();
  peak_mb_ = answer.at("peak_mb").get<double>();
  losses_ = answer.at("losses").get<std::vector<double>>();
}

Json PyTorch::ask(const Json& request) {
  fmt::print(to_, "{}\n", request.dump());
  std::fflush(to_);
  const std::string line = read_line(from_);
  if (line.empty())
    throw Error(ErrorKind::failed, "PyTorch gave no answer", python_.empty() ? "python3" : python_,
                python_.empty() ? "apt-get install python3-torch" : python_ + " -m pip install torch");
  return Json::parse(line);
}

double peak_memory_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1e3;
    }
  return 0;
}

std::string output_of_self(const std::vector<std::string>& arguments) {
  const std::string program = this_program().string();
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  Pipe output;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output.ends[1], STDOUT_FILENO);
    for (const int end : output.ends) ::close(end);
    ::execv(program.c_str(), words.data());
    ::_exit(127);
  }
  ::close(output.ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t count; (count = ::read(output.ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(count));
  ::close(output.ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw Error(ErrorKind::failed, fmt::format("a process of the bench failed: {}", arguments.front()));
  return text;
}

double one_step_run_seconds() {
  namespace fs = std::filesystem;
  double best = 1e9;
  for (int trial = 0; trial < 5; ++trial) {
    const fs::path out = fs::temp_directory_path() / fmt::format("eureka-bench-{}-{}", ::getpid(), trial);
    const auto start = std::chrono::steady_clock::now();
    output_of_self({"train", "two-step", "--quiet", "--set", "train.steps=1", "--out", out.string()});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
    fs::remove_all(out);
  }
  return best;
}

}  // namespace eureka
