// eureka bench: how fast is a training step here, and against PyTorch?
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/offered_words.h"
#include "io/json.h"
#include "kernels/instruction_set.h"
#include "measure/bench_processes.h"
#include "measure/measure_case.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

struct BenchArguments {
  std::vector<std::string> names;
  bool json = false;
  bool start_up = false;
  bool only_memory = false;  // what the process of one case's memory is asked for
  BenchSettings settings;
};

void print_steps(const Json& results) {
  TextTable table({{"case", Align::left},
                   {"engine", Align::left},
                   {"ms/step"},
                   {"median"},
                   {"cpu"},
                   {"samples/s"},
                   {"GFLOP/s"},
                   {"of peak"}});
  for (const Json& r : results) {
    const auto number = [&](const char* key, const char* format) {
      return fmt::format(fmt::runtime(format), r.at(key).get<double>());
    };
    table.add_row({r.at("name").get<std::string>(), r.at("engine").get<std::string>(), number("best_ms", "{:.2f}"),
                   number("median_ms", "{:.2f}"), number("cpu_ms", "{:.2f}"), number("samples_per_second", "{:.0f}"),
                   number("gflops", "{:.1f}"), fmt::format("{:.0f}%", 100 * r.at("share_of_peak").get<double>())});
  }
  print("{}", Layout{table.str()});
}

void print_against_pytorch(const Json& results) {
  TextTable table({{"case", Align::left},
                   {"PyTorch", Align::left},
                   {"ms/step"},
                   {"median"},
                   {"cpu"},
                   {"ratio"},
                   {"of medians"},
                   {"of cpu"},
                   {"MB"}});
  for (const Json& r : results)
    for (const Json& rival : r.at("pytorch")) {
      std::vector<std::string> cells = {r.at("name").get<std::string>(), rival.at("way").get<std::string>()};
      for (const char* key : {"best_ms", "median_ms", "cpu_ms"})
        cells.push_back(fmt::format("{:.2f}", rival.at(key).get<double>()));
      for (const char* key : {"ratio_best", "ratio_median", "ratio_cpu"})
        cells.push_back(fmt::format("{:.2f}x", rival.at(key).get<double>()));
      cells.push_back(fmt::format("{:.1f}", rival.at("peak_mb").get<double>()));
      table.add_row(std::move(cells));
    }
  const Json& first = results.front();
  std::vector<std::string> versions;
  for (const Json& rival : first.at("pytorch")) {
    const auto version = rival.at("version").get<std::string>();
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) versions.push_back(version);
  }
  print(
      "\n{}{}; ratio: its time over ours. stock: as people write it; tuned: the last block for the answer only,\n"
      "flat AdamW, products in two dimensions, patches by reshape, a graph; compile: that by torch.compile;\n"
      "bfloat16: that under autocast; jax: the same model and AdamW as one compiled function\n",
      Layout{table.str()}, fmt::format("{}", fmt::join(versions, ", ")));
  for (const Json& one : first.at("pytorch_left_out"))
    print("left out {}: {}\n", one.at("way").get<std::string>(), one.at("reason").get<std::string>());
}

// Where others had the processor too, times by the clock say little.
void print_disturbances(const Json& results) {
  std::vector<std::string> disturbed;
  for (const Json& r : results) {
    const auto name = r.at("name").get<std::string>();
    if (r.contains("disturbed") && r.at("disturbed").get<bool>()) disturbed.push_back(name);
    if (!r.contains("pytorch")) continue;
    for (const Json& rival : r.at("pytorch"))
      if (rival.at("disturbed").get<bool>())
        disturbed.push_back(fmt::format("{} ({})", name, rival.at("way").get<std::string>()));
  }
  if (disturbed.empty()) return;
  print(
      "\nThe machine was busy: wall-clock time was over 20% above processor time in {}.\n"
      "Compare by processor time (cpu), and best times before medians.\n",
      fmt::join(disturbed, ", "));
}

void print_memory_table(const Json& results) {
  TextTable table({{"peak memory", Align::left}, {"MB"}});
  for (const Json& r : results)
    if (r.contains("peak_mb"))
      table.add_row({r.at("name").get<std::string>(), fmt::format("{:.1f}", r.at("peak_mb").get<double>())});
  print("\n{}", Layout{table.str()});
}

void print_beside(const Json& results) {
  TextTable table({{"case", Align::left}, {"beside", Align::left}, {"ms/step"}, {"median"}, {"ratio"}, {"of medians"}});
  for (const Json& r : results)
    for (const Json& other : r.at("beside"))
      table.add_row({r.at("name").get<std::string>(), other.at("what").get<std::string>(),
                     fmt::format("{:.2f}", other.at("best_ms").get<double>()),
                     fmt::format("{:.2f}", other.at("median_ms").get<double>()),
                     fmt::format("{:.3f}x", other.at("ratio_best").get<double>()),
                     fmt::format("{:.3f}x", other.at("ratio_median").get<double>())});
  print("\n{}", Layout{table.str()});
}

void print_looks(const Json& results) {
  TextTable table(
      {{"case", Align::left}, {"looked at by", Align::left}, {"ms/look"}, {"median"}, {"ratio"}, {"of medians"}});
  for (const Json& r : results) {
    const Json& look = r.at("diagnose");
    table.add_row({r.at("name").get<std::string>(), look.at("what").get<std::string>(),
                   fmt::format("{:.3f}", look.at("best_ms").get<double>()),
                   fmt::format("{:.3f}", look.at("median_ms").get<double>()),
                   fmt::format("{:.4f}x", look.at("ratio_best").get<double>()),
                   fmt::format("{:.4f}x", look.at("ratio_median").get<double>())});
  }
  print("\n{}ratio: training with a look at {} samples of every {}th step, over training without\n",
        Layout{table.str()}, kLookSamples, kLookEvery);
}

void print_breakdown(const Json& results) {
  std::vector<TableColumn> columns = {{"share of a step", Align::left}};
  for (const auto& [part, share] : results.front().at("breakdown").items()) columns.push_back({part});
  TextTable table(std::move(columns));
  for (const Json& r : results) {
    std::vector<std::string> cells = {r.at("name").get<std::string>()};
    for (const auto& [part, share] : r.at("breakdown").items())
      cells.push_back(fmt::format("{:.1f}%", 100 * share.get<double>()));
    table.add_row(std::move(cells));
  }
  print("\n{}", Layout{table.str()});
}

void print_report(const Json& report, const BenchArguments& arguments) {
  const Json& results = report.at("cases");
  print_steps(results);
  for (const Json& one : report.at("skipped"))
    print("skipped {}: {}\n", one.at("name").get<std::string>(), one.at("reason").get<std::string>());
  if (results.empty()) return;
  if (results.front().contains("pytorch")) print_against_pytorch(results);
  print_disturbances(results);
  if (results.front().contains("peak_mb")) print_memory_table(results);
  if (results.front().contains("beside")) print_beside(results);
  if (!arguments.settings.diagnose.empty()) print_looks(results);
  if (arguments.settings.breakdown) print_breakdown(results);
  if (arguments.start_up)
    print("\nA training run of one step takes {:.3f} s, from the start of the process to its end.\n",
          report.at("one_step_run_seconds").get<double>());
}

// The cases asked for, all if none are named, with the threads and the rule asked for.
std::vector<BenchCase> chosen_cases(const BenchArguments& arguments) {
  std::vector<BenchCase> chosen;
  std::vector<std::string> known;
  std::vector<std::string> names = arguments.names;
  // One word for all presets of runs.
  if (const auto all = std::find(names.begin(), names.end(), "presets"); all != names.end()) {
    names.erase(all);
    for (const std::string& name : run_presets()) names.push_back(name);
  }
  for (BenchCase& one : bench_cases(catalog())) {
    known.push_back(one.name);
    if (!names.empty() && std::find(names.begin(), names.end(), one.name) == names.end()) continue;
    one.config.threads = arguments.settings.threads;
    use_rule(one.config, arguments.settings.rule);
    chosen.push_back(std::move(one));
  }
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorKind::usage, fmt::format("there is no bench case '{}'", name), {}, did_you_mean(name, known));
  return chosen;
}

int bench(const BenchArguments& arguments) {
  const std::vector<BenchCase> cases = chosen_cases(arguments);
  if (arguments.only_memory) {
    print("{}\n", added_peak_memory_mb(cases.front()));
    return kOk;
  }
  double load = 0;
  ::getloadavg(&load, 1);
  Json report{{"instruction_set", instruction_set()},
              {"threads", arguments.settings.threads},
              {"load_before", load},
              {"cases", Json::array()},
              {"skipped", Json::array()}};
  for (const BenchCase& one : cases) {
    // A case that was asked for by name and cannot run is an error.
    const bool by_name = std::find(arguments.names.begin(), arguments.names.end(), one.name) != arguments.names.end();
    const std::optional<std::string> reason = by_name ? std::nullopt : why_not_here(one);
    if (reason)
      report["skipped"].push_back({{"name", one.name}, {"reason", *reason}});
    else
      report["cases"].push_back(measure_case(one, arguments.settings));
  }
  if (arguments.start_up) report["one_step_run_seconds"] = one_step_run_seconds();
  if (arguments.json)
    print("{}\n", Lines{report.dump(2, Json::BadText::replace)});
  else
    print_report(report, arguments);
  return kOk;
}

}  // namespace

void add_bench(Command& program) {
  Command verb = program.add_command("bench", "how fast is a training step here, and against PyTorch?");
  auto arguments = std::make_shared<BenchArguments>();
  verb.option("cases", arguments->names,
              "tiny, lab, mid, paper or the name of a preset; presets: all of these; when left out, all that this "
              "machine can run")
      .suggests([] {
        std::vector<std::string> names = {"presets"};
        for (const BenchCase& one : bench_cases(catalog())) names.push_back(one.name);
        return names;
      });
  verb.flag("--against-pytorch", arguments->settings.against_pytorch, "both",
            "the same work in python3-torch, alternating, and its memory: =stock (as people write it), =tuned (as fast "
            "as we could make it), both of these, =compile (tuned, by torch.compile), =bfloat16 (that under autocast), "
            "=jax (where that Python has it) or =all")
      .one_of({"stock", "tuned", "both", "compile", "bfloat16", "jax", "all"});
  verb.option("--python", arguments->settings.python, "another Python, whose torch and JAX are measured")
      .needs("--against-pytorch");
  verb.flag("--pytorch-tokens", arguments->settings.pytorch_tokens,
            "PyTorch gets patches as tokens instead of images to cut up with a convolution");
  verb.option("--seconds", arguments->settings.seconds, "of our own steps per case").positive();
  verb.option("--threads", arguments->settings.threads, "CPU threads of a step; above 1 with one thread beside it")
      .positive();
  verb.option("--rule", arguments->settings.rule, "attention rule (PyTorch always does softmax)");
  verb.option("--beside-rule", arguments->settings.beside_rule, "another attention rule, alternating");
  verb.option("--diagnose", arguments->settings.diagnose,
              "what a look of these diagnostics (or: default) at 16 samples of every 100th step costs");
  verb.flag("--breakdown", arguments->settings.breakdown, "which part of a step takes how much of it");
  verb.flag("--memory", arguments->settings.memory, "peak memory of a step, in a process of its own");
  verb.flag("--start-up", arguments->start_up, "how long a training run of one step takes");
  verb.flag("--json", arguments->json, "machine-readable");
  verb.flag("--only-memory", arguments->only_memory).hidden();
  verb.runs([=] { return bench(*arguments); });
}

}  // namespace eureka::cli
