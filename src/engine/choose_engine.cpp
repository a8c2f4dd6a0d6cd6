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

}  // namespace

ChosenEngine make_engine(EngineChoice choice, const EngineConfig& config) {
  if (choice == EngineChoice::reference) return {reference_engine(config, "the reference engine is asked for"), {}};
  if (choice == EngineChoice::automatic)
    if (const auto reason = why_not_fused(config))
      return {reference_engine(config, fmt::format("the fused engine cannot run this ({})", *reason)), *reason};
  return {std::make_unique<FusedEngine>(config), {}};
}

}  // namespace eureka
