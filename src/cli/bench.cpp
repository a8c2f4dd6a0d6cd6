// eureka bench: how fast is a training step here, and against stock PyTorch?
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/embedded.h"
#include "base/error.h"
#include "cli/bench_cases.h"
#include "cli/cli.h"
#include "engine/choose_engine.h"
#include "engine/transformer_layout.h"
#include "kernels/gemm.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchArguments {
  std::vector<std::string> names;
  bool against_pytorch = false;
  bool json = false;
  double seconds = 2;
  int threads = 1;
  std::string rule = "softmax";
};

// Wall-clock times of single steps, and the processor time of all of them together: a busy neighbour stretches the
// first and hardly the second.
struct Times {
  std::vector<double> ms;
  double cpu_ms = 0;

  double cpu() const { return cpu_ms / static_cast<double>(ms.size()); }
  double best() const { return *std::min_element(ms.begin(), ms.end()); }
  double median() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// Stock PyTorch in a process of its own, doing the same work on request.
class PyTorch {
 public:
  PyTorch() {
    int requests[2], answers[2];
    if (::pipe(requests) != 0 || ::pipe(answers) != 0) throw Error(ErrorKind::failed, "cannot make a pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(requests[0], STDIN_FILENO);
      ::dup2(answers[1], STDOUT_FILENO);
      for (const int end : {requests[0], requests[1], answers[0], answers[1]}) ::close(end);
      const std::string script(pytorch::files()[0].text);
      // Debian's own Python, which Debian's python3-torch belongs to, before any other on the path.
      ::execl("/usr/bin/python3", "python3", "-c", script.c_str(), nullptr);
      ::execlp("python3", "python3", "-c", script.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(requests[0]);
    ::close(answers[1]);
    to_ = ::fdopen(requests[1], "w");
    from_ = ::fdopen(answers[0], "r");
  }
  PyTorch(const PyTorch&) = delete;
  PyTorch& operator=(const PyTorch&) = delete;
  ~PyTorch() {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(child_, nullptr, 0);
  }

  void make(const BenchCase& one) {
    TransformerOptions options;
    assign(options, one.config.model_options);
    ask({{"make",
          {{"tokens", one.config.shape.tokens},
           {"dimension", one.config.shape.dimension},
           {"classes", one.config.shape.classes},
           {"width", options.width},
           {"hidden", options.mlp_width()},
           {"heads", options.heads},
           {"depth", options.depth},
           {"batch", one.batch}}}});
  }
  void steps(std::size_t count, Times& times) {
    const Json answer = ask({{"steps", count}});
    for (const Json& ms : answer.at("ms")) times.ms.push_back(ms.get<double>());
    times.cpu_ms += answer.at("cpu_ms").get<double>();
  }

 private:
  Json ask(const Json& request) {
    fmt::print(to_, "{}\n", request.dump());
    std::fflush(to_);
    std::string line;
    for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) line.push_back(static_cast<char>(c));
    if (line.empty())
      throw Error(ErrorKind::failed, "PyTorch gave no answer", "python3", "apt-get install python3-torch");
    return Json::parse(line);
  }

  pid_t child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

double process_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

void run_steps(Engine& engine, const Batch& batch, std::size_t count, std::int64_t& step, Times& times) {
  const double cpu_before = process_cpu_ms();
  for (std::size_t i = 0; i < count; ++i, ++step) {
    const auto start = std::chrono::steady_clock::now();
    engine.train_step(batch, {.step = step, .lr = 1e-4});
    times.ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  times.cpu_ms += process_cpu_ms() - cpu_before;
}

Json measure(const BenchCase& one, const BenchArguments& arguments, PyTorch* pytorch) {
  const ChosenEngine chosen = make_engine(EngineChoice::automatic, one.config);
  const Batch batch = bench_batch(one);
  std::int64_t step = 0;
  Times warm_up, ours, theirs;
  run_steps(*chosen.engine, batch, 2, step, warm_up);
  if (pytorch != nullptr) {
    Times ignored;
    pytorch->make(one);
    pytorch->steps(2, ignored);
  }
  double peak = 0;
  // Turn and turn about, so that a busy neighbour slows both alike.
  constexpr int kRounds = 8;
  const double round_ms = arguments.seconds * 1e3 / kRounds;
  const auto count = static_cast<std::size_t>(std::clamp(round_ms / warm_up.best(), 1.0, 1000.0));
  for (int round = 0; round < kRounds; ++round) {
    peak = std::max(peak, measured_peak_flops());
    run_steps(*chosen.engine, batch, count, step, ours);
    if (pytorch != nullptr) pytorch->steps(std::max<std::size_t>(1, count / 3), theirs);
  }
  const double flops = full_flops(one);
  const double rate = flops / ours.best() * 1e3;
  Json result{{"name", one.name},
              {"engine", chosen.engine->name()},
              {"batch", one.batch},
              {"best_ms", ours.best()},
              {"median_ms", ours.median()},
              {"cpu_ms", ours.cpu()},
              {"samples_per_second", static_cast<double>(one.batch) / ours.best() * 1e3},
              {"gflops", rate * 1e-9},
              {"peak_gflops", peak * 1e-9 * arguments.threads},
              {"share_of_peak", rate / (peak * arguments.threads)}};
  if (pytorch != nullptr) {
    result["pytorch_best_ms"] = theirs.best();
    result["pytorch_median_ms"] = theirs.median();
    result["pytorch_cpu_ms"] = theirs.cpu();
    result["ratio_cpu"] = theirs.cpu() / ours.cpu();
    result["ratio_best"] = theirs.best() / ours.best();
    result["ratio_median"] = theirs.median() / ours.median();
  }
  return result;
}

void print_table(const Json& results, bool with_pytorch) {
  std::vector<TableColumn> columns = {{"case", Align::left},
                                      {"engine", Align::left},
                                      {"ms/step"},
                                      {"median"},
                                      {"cpu"},
                                      {"samples/s"},
                                      {"GFLOP/s"},
                                      {"of peak"}};
  if (with_pytorch)
    columns.insert(columns.end(), {{"PyTorch ms"}, {"median"}, {"cpu"}, {"ratio"}, {"of medians"}, {"of cpu"}});
  TextTable table(std::move(columns));
  for (const Json& r : results) {
    const auto number = [&](const char* key) { return r.at(key).get<double>(); };
    std::vector<std::string> cells = {r.at("name"),
                                      r.at("engine"),
                                      fmt::format("{:.2f}", number("best_ms")),
                                      fmt::format("{:.2f}", number("median_ms")),
                                      fmt::format("{:.2f}", number("cpu_ms")),
                                      fmt::format("{:.0f}", number("samples_per_second")),
                                      fmt::format("{:.1f}", number("gflops")),
                                      fmt::format("{:.0f}%", 100 * number("share_of_peak"))};
    if (with_pytorch) {
      cells.push_back(fmt::format("{:.2f}", number("pytorch_best_ms")));
      cells.push_back(fmt::format("{:.2f}", number("pytorch_median_ms")));
      cells.push_back(fmt::format("{:.2f}", number("pytorch_cpu_ms")));
      for (const char* ratio : {"ratio_best", "ratio_median", "ratio_cpu"})
        cells.push_back(fmt::format("{:.2f}x", number(ratio)));
    }
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.str());
}

int bench(const BenchArguments& arguments) {
  std::optional<PyTorch> pytorch;
  if (arguments.against_pytorch) pytorch.emplace();
  Json results = Json::array();
  std::vector<std::string> known;
  for (BenchCase& one : bench_cases()) {
    known.push_back(one.name);
    const auto& names = arguments.names;
    if (!names.empty() && std::find(names.begin(), names.end(), one.name) == names.end()) continue;
    one.config.threads = arguments.threads;
    if (one.config.rule != arguments.rule) {
      one.config.rule = arguments.rule;
      one.config.rule_options.clear();
    }
    results.push_back(measure(one, arguments, pytorch ? &*pytorch : nullptr));
  }
  for (const std::string& name : arguments.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorKind::usage, fmt::format("there is no bench case '{}'", name), {}, did_you_mean(name, known));
  if (arguments.json)
    fmt::print(
        "{}\n",
        Json{{"instruction_set", instruction_set()}, {"threads", arguments.threads}, {"cases", results}}.dump(2));
  else
    print_table(results, arguments.against_pytorch);
  return kOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("bench", "how fast is a training step here, and against stock PyTorch?");
  auto arguments = std::make_shared<BenchArguments>();
  verb->add_option("cases", arguments->names, "tiny, lab, mid, paper or presets; all when left out");
  verb->add_flag("--against-pytorch", arguments->against_pytorch,
                 "the same work in python3-torch, turn and turn about");
  verb->add_option("--seconds", arguments->seconds, "of our own steps per case")->check(CLI::PositiveNumber);
  verb->add_option("--threads", arguments->threads, "CPU threads of a step")->check(CLI::PositiveNumber);
  verb->add_option("--rule", arguments->rule, "attention rule (PyTorch always does softmax)");
  verb->add_flag("--json", arguments->json, "machine-readable");
  verb->callback([=, &chosen] { chosen = [=] { return bench(*arguments); }; });
}

}  // namespace eureka::cli
