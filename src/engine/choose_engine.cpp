#include "engine/choose_engine.h"

#include "engine/fused_engine.h"

namespace eureka {

ChosenEngine make_engine(EngineChoice choice, const EngineConfig& config) {
  if (choice == EngineChoice::reference) return {load_reference_engine(config), {}};
  if (choice == EngineChoice::automatic)
    if (const auto reason = why_not_fused(config)) return {load_reference_engine(config), *reason};
  return {std::make_unique<FusedEngine>(config), {}};
}

}  // namespace eureka
