// eureka bench: how fast is a training step here, and against stock PyTorch?
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "cli/bench_processes.h"
#include "cli/bench_profile.h"
#include "cli/cli.h"
#include "diagnostics/diagnostic_set.h"
#include "engine/choose_engine.h"
#include "kernels/gemm.h"
#include "kernels/instruction_set.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

struct BenchArguments {
  std::vector<std::string> names;
  bool against_pytorch = false;
  bool pytorch_tokens = false;
  bool json = false;
  bool breakdown = false;
  bool memory = false;
  bool start_up = false;
  bool only_memory = false;  // what the process of one case's memory is asked for
  double seconds = 2;
  int threads = 1;
  std::string rule = "softmax";
  std::string beside_rule;
  std::string diagnose;
};

double process_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// How often and at how many samples a diagnostic looks.
constexpr int kLookEvery = 25;
constexpr std::int64_t kLookSamples = 16;

// One engine at work on a case.
class Worker {
 public:
  Worker(const EngineConfig& config, const Batch& batch)
      : batch_(batch), engine_(make_engine(EngineChoice::automatic, config).engine) {
    steps(2, warm_up_);
  }
  void steps(std::size_t count) { steps(count, times); }
  // How many steps take about this long.
  std::size_t steps_in(double ms) const { return static_cast<std::size_t>(std::clamp(ms / warm_up_.best(), 1.0, 1e4)); }
  // Looks before steps that are not counted, as a run in training does.
  void look(DiagnosticSet& diagnostics, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto start = std::chrono::steady_clock::now();
      diagnostics.look(*engine_, batch_, step_, kLookSamples);
      look_ms.push_back(milliseconds_since(start));
      steps(1, warm_up_);
    }
  }
  std::string engine() const { return engine_->name(); }

  StepTimes times;
  std::vector<double> look_ms;

 private:
  void steps(std::size_t count, StepTimes& to) {
    const double cpu_before = process_cpu_ms();
    for (std::size_t i = 0; i < count; ++i, ++step_) {
      const auto start = std::chrono::steady_clock::now();
      engine_->train_step(batch_, {.step = step_, .lr = 1e-4});
      to.ms.push_back(milliseconds_since(start));
    }
    to.cpu_ms += process_cpu_ms() - cpu_before;
  }

  const Batch& batch_;
  std::unique_ptr<Engine> engine_;
  std::int64_t step_ = 0;
  StepTimes warm_up_;
};

// The same case done in another way, alternating with it.
struct Beside {
  std::string what;
  Worker worker;
};

void use_rule(EngineConfig& config, const std::string& rule) {
  if (config.rule == rule) return;
  config.rule = rule;
  config.rule_options.clear();
}

// The breakdown is of one thread: the others do the same.
Json breakdown(BenchCase one, const Batch& batch, double seconds) {
  one.config.threads = 1;
  Worker worker(one.config, batch);
  StepProfile profile;
  profile.sample([&] { worker.steps(worker.steps_in(seconds * 1e3)); });
  Json shares;
  for (const auto& [part, share] : profile.shares()) shares[part] = share;
  return shares;
}

double peak_mb_of_step(const BenchCase& one, const BenchArguments& arguments) {
  return std::stod(output_of_self(
      {"bench", one.name, "--only-memory", "--threads", std::to_string(arguments.threads), "--rule", arguments.rule}));
}

// The time of training with a look at every kLookEvery-th step over that without.
Json cost_of_looking(const std::string& diagnostic, const Worker& worker) {
  StepTimes looks{.ms = worker.look_ms};
  return {{"what", diagnostic},
          {"samples", kLookSamples},
          {"every", kLookEvery},
          {"best_ms", looks.best()},
          {"median_ms", looks.median()},
          {"ratio_best", 1 + looks.best() / (kLookEvery * worker.times.best())},
          {"ratio_median", 1 + looks.median() / (kLookEvery * worker.times.median())}};
}

Json measure(const BenchCase& one, const BenchArguments& arguments) {
  const Batch batch = bench_batch(one);
  Worker ours(one.config, batch);
  std::vector<Beside> others;
  const auto add = [&](const std::string& what, const auto& change) {
    EngineConfig config = one.config;
    change(config);
    others.push_back({what, Worker(config, batch)});
  };
  if (arguments.threads > 1) add("1 thread", [](EngineConfig& config) { config.threads = 1; });
  if (!arguments.beside_rule.empty())
    add(arguments.beside_rule, [&](EngineConfig& config) { use_rule(config, arguments.beside_rule); });
  DiagnosticSet diagnostics;
  if (!arguments.diagnose.empty())
    diagnostics.add(arguments.diagnose, Registry<Diagnostic>::instance().make(arguments.diagnose));
  std::optional<PyTorch> pytorch;
  StepTimes theirs;
  if (arguments.against_pytorch) {
    StepTimes ignored;
    pytorch.emplace(one, arguments.pytorch_tokens);
    pytorch->steps(2, ignored);
  }
  double peak = 0;
  // Alternating, so that a busy neighbour slows all alike.
  constexpr int kRounds = 8;
  const std::size_t count = ours.steps_in(arguments.seconds * 1e3 / kRounds);
  for (int round = 0; round < kRounds; ++round) {
    peak = std::max(peak, measured_peak_flops());
    ours.steps(count);
    if (!diagnostics.empty()) ours.look(diagnostics, std::clamp<std::size_t>(count / 10, 1, 20));
    for (Beside& other : others) other.worker.steps(count);
    if (pytorch) pytorch->steps(std::max<std::size_t>(1, count / 3), theirs);
  }
  const StepTimes& times = ours.times;
  const double rate = full_flops(one) / times.best() * 1e3;
  Json result{{"name", one.name},
              {"engine", ours.engine()},
              {"rule", one.config.rule},
              {"batch", one.batch},
              {"steps", times.ms.size()},
              {"best_ms", times.best()},
              {"median_ms", times.median()},
              {"cpu_ms", times.cpu()},
              {"samples_per_second", static_cast<double>(one.batch) / times.best() * 1e3},
              {"gflops", rate * 1e-9},
              {"peak_gflops", peak * 1e-9 * arguments.threads},
              {"share_of_peak", rate / (peak * arguments.threads)}};
  if (!diagnostics.empty()) result["diagnose"] = cost_of_looking(arguments.diagnose, ours);
  for (const Beside& other : others) {
    const StepTimes& t = other.worker.times;
    result["beside"].push_back({{"what", other.what},
                                {"best_ms", t.best()},
                                {"median_ms", t.median()},
                                {"ratio_best", t.best() / times.best()},
                                {"ratio_median", t.median() / times.median()}});
  }
  if (pytorch) {
    result["pytorch_input"] = one.plan().patch > 0 && !arguments.pytorch_tokens ? "images" : "tokens";
    result["pytorch_best_ms"] = theirs.best();
    result["pytorch_median_ms"] = theirs.median();
    result["pytorch_cpu_ms"] = theirs.cpu();
    result["ratio_best"] = theirs.best() / times.best();
    result["ratio_median"] = theirs.median() / times.median();
    result["ratio_cpu"] = theirs.cpu() / times.cpu();
    result["pytorch_peak_mb"] = pytorch->peak_mb();
  }
  if (arguments.memory || pytorch) result["peak_mb"] = peak_mb_of_step(one, arguments);
  if (arguments.breakdown) result["breakdown"] = breakdown(one, batch, arguments.seconds);
  return result;
}

// Prints what a few steps of the case need beyond what the process held before.
int print_memory(const BenchCase& one) {
  const double before = peak_memory_mb();
  const Batch batch = bench_batch(one);
  Worker worker(one.config, batch);
  worker.steps(1);
  fmt::print("{}\n", peak_memory_mb() - before);
  return kOk;
}

void print_steps(const Json& results, bool with_pytorch) {
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
    const auto number = [&](const char* key, const char* format) {
      return fmt::format(fmt::runtime(format), r.at(key).get<double>());
    };
    std::vector<std::string> cells = {r.at("name"),
                                      r.at("engine"),
                                      number("best_ms", "{:.2f}"),
                                      number("median_ms", "{:.2f}"),
                                      number("cpu_ms", "{:.2f}"),
                                      number("samples_per_second", "{:.0f}"),
                                      number("gflops", "{:.1f}"),
                                      fmt::format("{:.0f}%", 100 * r.at("share_of_peak").get<double>())};
    if (with_pytorch) {
      for (const char* key : {"pytorch_best_ms", "pytorch_median_ms", "pytorch_cpu_ms"})
        cells.push_back(number(key, "{:.2f}"));
      for (const char* key : {"ratio_best", "ratio_median", "ratio_cpu"}) cells.push_back(number(key, "{:.2f}x"));
    }
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.str());
}

void print_memory_table(const Json& results) {
  TextTable table({{"peak memory", Align::left}, {"MB"}, {"PyTorch MB"}});
  for (const Json& r : results)
    if (r.contains("peak_mb"))
      table.add_row(
          {r.at("name"), fmt::format("{:.1f}", r.at("peak_mb").get<double>()),
           r.contains("pytorch_peak_mb") ? fmt::format("{:.1f}", r.at("pytorch_peak_mb").get<double>()) : ""});
  fmt::print("\n{}", table.str());
}

void print_beside(const Json& results) {
  TextTable table({{"case", Align::left}, {"beside", Align::left}, {"ms/step"}, {"median"}, {"ratio"}, {"of medians"}});
  for (const Json& r : results)
    for (const Json& other : r.at("beside"))
      table.add_row({r.at("name"), other.at("what"), fmt::format("{:.2f}", other.at("best_ms").get<double>()),
                     fmt::format("{:.2f}", other.at("median_ms").get<double>()),
                     fmt::format("{:.3f}x", other.at("ratio_best").get<double>()),
                     fmt::format("{:.3f}x", other.at("ratio_median").get<double>())});
  fmt::print("\n{}", table.str());
}

void print_looks(const Json& results) {
  TextTable table(
      {{"case", Align::left}, {"looked at by", Align::left}, {"ms/look"}, {"median"}, {"ratio"}, {"of medians"}});
  for (const Json& r : results) {
    const Json& look = r.at("diagnose");
    table.add_row({r.at("name"), look.at("what"), fmt::format("{:.3f}", look.at("best_ms").get<double>()),
                   fmt::format("{:.3f}", look.at("median_ms").get<double>()),
                   fmt::format("{:.4f}x", look.at("ratio_best").get<double>()),
                   fmt::format("{:.4f}x", look.at("ratio_median").get<double>())});
  }
  fmt::print("\n{}ratio: training with a look at {} samples of every {}th step, over training without\n", table.str(),
             kLookSamples, kLookEvery);
}

void print_breakdown(const Json& results) {
  std::vector<TableColumn> columns = {{"share of a step", Align::left}};
  for (const auto& [part, share] : results.front().at("breakdown").items()) columns.push_back({part});
  TextTable table(std::move(columns));
  for (const Json& r : results) {
    std::vector<std::string> cells = {r.at("name")};
    for (const Json& share : r.at("breakdown")) cells.push_back(fmt::format("{:.1f}%", 100 * share.get<double>()));
    table.add_row(std::move(cells));
  }
  fmt::print("\n{}", table.str());
}

void print_report(const Json& report, const BenchArguments& arguments) {
  const Json& results = report.at("cases");
  print_steps(results, arguments.against_pytorch);
  if (results.empty()) return;
  if (results.front().contains("peak_mb")) print_memory_table(results);
  if (results.front().contains("beside")) print_beside(results);
  if (!arguments.diagnose.empty()) print_looks(results);
  if (arguments.breakdown) print_breakdown(results);
  if (arguments.start_up)
    fmt::print("\nA training run of one step takes {:.3f} s, from the start of the process to its end.\n",
               report.at("one_step_run_seconds").get<double>());
}

// The cases asked for, all if none are named, with the threads and the rule asked for.
std::vector<BenchCase> chosen_cases(const BenchArguments& arguments) {
  std::vector<BenchCase> chosen;
  std::vector<std::string> known;
  const auto& names = arguments.names;
  for (BenchCase& one : bench_cases()) {
    known.push_back(one.name);
    if (!names.empty() && std::find(names.begin(), names.end(), one.name) == names.end()) continue;
    one.config.threads = arguments.threads;
    use_rule(one.config, arguments.rule);
    chosen.push_back(std::move(one));
  }
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorKind::usage, fmt::format("there is no bench case '{}'", name), {}, did_you_mean(name, known));
  return chosen;
}

int bench(const BenchArguments& arguments) {
  const std::vector<BenchCase> cases = chosen_cases(arguments);
  if (arguments.only_memory) return print_memory(cases.front());
  double load = 0;
  ::getloadavg(&load, 1);
  Json report{{"instruction_set", instruction_set()},
              {"threads", arguments.threads},
              {"load_before", load},
              {"cases", Json::array()}};
  for (const BenchCase& one : cases) report["cases"].push_back(measure(one, arguments));
  if (arguments.start_up) report["one_step_run_seconds"] = one_step_run_seconds();
  if (arguments.json)
    fmt::print("{}\n", report.dump(2));
  else
    print_report(report, arguments);
  return kOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("bench", "how fast is a training step here, and against stock PyTorch?");
  auto arguments = std::make_shared<BenchArguments>();
  verb->add_option("cases", arguments->names, "tiny, lab, mid, paper or presets; all when left out");
  verb->add_flag("--against-pytorch", arguments->against_pytorch,
                 "the same work in python3-torch, alternating, and the memory of both");
  verb->add_flag("--pytorch-tokens", arguments->pytorch_tokens,
                 "PyTorch gets patches as tokens instead of images to cut up with a convolution");
  verb->add_option("--seconds", arguments->seconds, "of our own steps per case")->check(CLI::PositiveNumber);
  verb->add_option("--threads", arguments->threads, "CPU threads of a step; above 1 with one thread beside it")
      ->check(CLI::PositiveNumber);
  verb->add_option("--rule", arguments->rule, "attention rule (PyTorch always does softmax)");
  verb->add_option("--beside-rule", arguments->beside_rule, "another attention rule, alternating");
  verb->add_option("--diagnose", arguments->diagnose,
                   "what a look of this diagnostic at 16 samples of every 25th step costs");
  verb->add_flag("--breakdown", arguments->breakdown, "which part of a step takes how much of it");
  verb->add_flag("--memory", arguments->memory, "peak memory of a step, in a process of its own");
  verb->add_flag("--start-up", arguments->start_up, "how long a training run of one step takes");
  verb->add_flag("--json", arguments->json, "machine-readable");
  verb->add_flag("--only-memory", arguments->only_memory)->group("");
  verb->callback([=, &chosen] { chosen = [=] { return bench(*arguments); }; });
}

}  // namespace eureka::cli
