// Which engine runs a config.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"

namespace eureka {

enum class EngineChoice { automatic, fused, reference };
constexpr auto enum_names(EngineChoice) { return std::array{"auto", "fused", "reference"}; }

struct ChosenEngine {
  std::unique_ptr<Engine> engine;
  std::string why_not_fused;  // empty when it is fused, or when the reference was asked for
};

// automatic: fused where the whole config is covered, else reference, which loads libtorch.
// Throws Error(config) when the fused engine is asked for what it does not cover, and when only the reference engine
// would do in a program without it.
ChosenEngine make_engine(EngineChoice choice, const EngineConfig& config);

}  // namespace eureka
