// eureka doctor: is this machine set up right?
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/files.h"
#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "engine/engine.h"
#include "engine/rank_sums.h"
#include "io/json.h"
#include "kernels/instruction_set.h"

namespace eureka::cli {
namespace {

enum class Level { good, note, bad };

struct Finding {
  Level level;
  std::string subject;
  std::string text;
  std::string advice;
};

constexpr const char* kInstallOpenBlas =
    "apt-get install libopenblas0-openmp, then: update-alternatives --config libblas.so.3-$(uname -m)-linux-gnu";

// The library that libtorch got, asked by the name that Debian's links.
Finding check_blas(bool torch_is_loaded) {
  if (!has_torch_library()) return {Level::good, "BLAS", "none needed: the fused engine brings its own", ""};
  if (!torch_is_loaded) return {Level::note, "BLAS", "not known: libtorch was not loaded", ""};
  void* blas = ::dlopen("libblas.so.3", RTLD_NOW | RTLD_NOLOAD);
  if (blas == nullptr) return {Level::good, "BLAS", "this libtorch uses no system libblas.so.3, it brings its own", ""};
  Dl_info where{};
  void* gemm = ::dlsym(blas, "sgemm_");
  const std::string path =
      gemm != nullptr && ::dladdr(gemm, &where) != 0 && where.dli_fname != nullptr ? where.dli_fname : "unknown";
  auto* parallel = reinterpret_cast<int (*)()>(::dlsym(blas, "openblas_get_parallel"));
  if (parallel == nullptr)
    return {Level::bad, "BLAS", fmt::format("{} is not OpenBLAS: matrix products are about ten times slower", path),
            kInstallOpenBlas};
  constexpr int kOpenMp = 2;
  if (parallel() != kOpenMp)
    return {Level::bad, "BLAS", fmt::format("{} is OpenBLAS without OpenMP: its threads fight those of libtorch", path),
            kInstallOpenBlas};
  return {Level::good, "BLAS", fmt::format("OpenBLAS, OpenMP flavour ({})", path), ""};
}

Finding check_torch(TorchFacts& facts) {
  if (!has_torch_library())
    return {Level::note, "libtorch", "not here: no reference engine, no GPU, only models and rules with a fused form",
            fmt::format("{}; of the Debian packages: eureka-torch", kHowToBuildWithTorch)};
  try {
    facts = load_torch_facts();
    return {Level::good, "libtorch",
            fmt::format("{} ({}); devices: {}", facts.version, facts.path, fmt::join(facts.devices, ", ")), ""};
  } catch (const Error& error) {
    return {Level::bad, "libtorch", error.what(), "make build"};
  }
}

// Several of one run.
Finding check_processes(const TorchFacts& torch) {
  if (!has_torch_library()) return {Level::good, "processes", "a run has one: several take the reference engine", ""};
  if (torch.version.empty()) return {Level::note, "processes", "not known: libtorch was not loaded", ""};
  const RankSumsAdvice found = advice_on(load_rank_sums(), torch.devices.size() > 1);
  return {found.advice.empty() ? Level::good : Level::note, "processes", found.text, found.advice};
}

Finding check_processor() {
  const std::string text = fmt::format("{} cores, using {} of {}", std::thread::hardware_concurrency(),
                                       instruction_set(), fmt::join(instruction_sets(), ", "));
  if (!has_fused_multiply_add())
    return {Level::note, "processor", text + ": slow, and the last digits of a run differ from other machines'",
            "without fused multiply-add no run can have the bits of a processor that has it"};
  return {Level::good, "processor", text, ""};
}

Finding check_environment() {
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    if (const char* value = std::getenv(name))
      return {Level::note, "environment",
              fmt::format("{}={} is set; eureka sets threads by run.threads itself", name, value),
              fmt::format("unset {}", name)};
  return {Level::good, "environment", "no thread variables in the way", ""};
}

Finding check_space() {
  std::error_code failure;
  const fs::space_info space = fs::space(fs::current_path(), failure);
  if (failure) return {Level::note, "disk", failure.message(), ""};
  const double gigabytes = static_cast<double>(space.available) / 1e9;
  if (gigabytes < 1)
    return {Level::bad, "disk", fmt::format("{:.2f} GB free here", gigabytes),
            "free some space, or use --out elsewhere"};
  return {Level::good, "disk", fmt::format("{:.0f} GB free here", gigabytes), ""};
}

int doctor(bool json) {
  TorchFacts torch;
  // Braces keep the order.
  const std::vector<Finding> findings = {check_torch(torch),     check_blas(!torch.version.empty()),
                                         check_processes(torch), check_processor(),
                                         check_environment(),    check_space()};
  constexpr const char* kLevels[] = {"ok", "note", "bad"};
  bool healthy = true;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    healthy = healthy && finding.level != Level::bad;
    const char* level = kLevels[static_cast<int>(finding.level)];
    list.push_back(
        {{"level", level}, {"subject", finding.subject}, {"text", finding.text}, {"advice", finding.advice}});
    if (json) continue;
    print("{:<5} {:<12} {}\n", level, finding.subject, finding.text);
    if (!finding.advice.empty()) print("                   {}\n", finding.advice);
  }
  if (json) {
    const Json libtorch = {{"version", torch.version}, {"path", torch.path}, {"devices", torch.devices}};
    print("{}\n", Lines{Json{{"healthy", healthy}, {"findings", list}, {"libtorch", libtorch}}.dump(
                      2, Json::BadText::replace)});
  }
  return healthy ? kOk : kFailed;
}

}  // namespace

void add_doctor(Command& program) {
  Command verb = program.add_command("doctor", "is this machine set up right?");
  auto json = std::make_shared<bool>(false);
  verb.flag("--json", *json, "machine-readable");
  verb.runs([=] { return doctor(*json); });
}

}  // namespace eureka::cli
