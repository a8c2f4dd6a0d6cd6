#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/files.h"
#include "base/run_program.h"
#include "engine/engine.h"
#include "engine/libtorch_environment.h"
#include "engine/rank_sums.h"

namespace eureka {
namespace {

const char* chosen_library() { return std::getenv("EUREKA_TORCH_LIBRARY"); }

fs::path library_path() {
  if (const char* chosen = chosen_library()) return chosen;
  const fs::path program = this_program();
  const fs::path beside = program.parent_path() / "libeureka_torch.so";
  if (std::error_code failure; fs::exists(beside, failure)) return beside;
  return program.parent_path().parent_path() / "lib" / "libeureka_torch.so";
}

// A library of another build would be called with objects it does not know.
void check_interface(void* opened, const fs::path& path) {
  const auto interface =
      reinterpret_cast<decltype(&eureka_engine_interface)>(::dlsym(opened, "eureka_engine_interface"));
  const int found = interface == nullptr ? 0 : interface();
  if (found == kEngineInterface) return;
  ::dlclose(opened);
  throw Error(ErrorKind::failed,
              fmt::format("the torch library has interface {} of the engines, this program has {}",
                          found == 0 ? "none" : std::to_string(found), kEngineInterface),
              path.string(), "they come from different builds: run 'make build', or unset EUREKA_TORCH_LIBRARY");
}

// Loaded once. What depends on the precision is read by libtorch when it first computes: who asks before an engine is
// made says nothing of it.
void* library(std::optional<Precision> precision) {
  pin_libtorch(precision);
  static void* handle = [&] {
    const fs::path path = library_path();
    void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr)
      throw Error(ErrorKind::failed, fmt::format("cannot load the torch library: {}", ::dlerror()), path.string(),
                  "eureka doctor tells what is missing; 'make build' builds it");
    check_interface(opened, path);
    return opened;
  }();
  return handle;
}

template <class Function>
Function* entry_point(const char* name, std::optional<Precision> precision = Precision::float32) {
  void* address = ::dlsym(library(precision), name);
  if (address == nullptr)
    throw Error(ErrorKind::failed, fmt::format("the torch library has no '{}'", name), library_path().string(),
                "it was built from another version: run 'make build'");
  return reinterpret_cast<Function*>(address);
}

}  // namespace

bool has_torch_library() {
  std::error_code ignored;
  return chosen_library() != nullptr || (EUREKA_BUILT_WITH_TORCH && fs::exists(library_path(), ignored));
}

std::unique_ptr<Engine> load_reference_engine(const EngineConfig& config) {
  return std::unique_ptr<Engine>(
      entry_point<decltype(eureka_make_reference_engine)>("eureka_make_reference_engine", config.precision)(config));
}

std::unique_ptr<Ranks> join_ranks(const RankPlace& place) {
  if (!has_torch_library())
    throw Error(ErrorKind::config,
                "several processes train by the reference engine, and this program was built without libtorch", {},
                kHowToBuildWithTorch);
  return std::unique_ptr<Ranks>(entry_point<decltype(eureka_join_ranks)>("eureka_join_ranks", std::nullopt)(place));
}

TorchFacts load_torch_facts() {
  TorchFacts facts;
  entry_point<decltype(eureka_torch_facts)>("eureka_torch_facts")(facts);
  return facts;
}

RankSums load_rank_sums() {
  RankSums sums;
  entry_point<decltype(eureka_rank_sums)>("eureka_rank_sums", std::nullopt)(sums);
  return sums;
}

}  // namespace eureka
