#include "engine/choose_engine.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/fused_engine.h"

namespace eureka {
namespace {

std::unique_ptr<Engine> reference_engine(const EngineConfig& config, const std::string& why) {
  if (!has_torch_library())
    throw Error(ErrorKind::config, fmt::format("{}, and this program was built without libtorch", why), {},
                kHowToBuildWithTorch);
  return load_reference_engine(config);
}

// A run over several processes, too, where the config alone would not say so.
std::optional<std::string> why_reference(const EngineConfig& config) {
  if (config.ranks != nullptr) return fmt::format("it runs over {} processes", config.ranks->place().size);
  return why_not_fused(config);
}

}  // namespace

ChosenEngine make_engine(EngineChoice choice, const EngineConfig& config) {
  if (choice == EngineChoice::fused && config.ranks != nullptr)
    throw Error(ErrorKind::config, "the fused engine trains in one process, not in several", {},
                "it uses several cores by --threads; for several processes --set run.engine=reference");
  if (choice == EngineChoice::reference) return {reference_engine(config, "the reference engine is asked for"), {}};
  if (choice == EngineChoice::automatic)
    if (const auto reason = why_reference(config))
      return {reference_engine(config, fmt::format("the fused engine cannot run this ({})", *reason)), *reason};
  return {std::make_unique<FusedEngine>(config), {}};
}

}  // namespace eureka
