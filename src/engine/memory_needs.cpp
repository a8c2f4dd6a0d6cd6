#include "engine/memory_needs.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/machine_memory.h"
#include "engine/fused_models.h"
#include "kernels/elementwise.h"

namespace eureka {

MemoryNeeds fused_memory(const EngineConfig& config, std::size_t samples, const ObservationRequest& look) {
  const std::unique_ptr<FusedNetwork> network = find_fused_model(config.model)->make(config);
  const NetworkMemory own = network->memory(samples, look);
  const std::size_t flat = Buffer::bytes(network->layout().floats);
  const bool looks_back = look.gradients || look.parameters == ParameterGradients::own_pass;
  MemoryNeeds needs;
  needs.parameters = flat + own.weights;
  needs.optimizer = flat * (config.optimizer.kind == OptimizerKind::sgd ? 1 : 2);
  needs.gradients = flat * network->groups(samples);
  needs.activations = own.activations + samples * network->answers() * sizeof(AnswerLoss);
  needs.how_to_shrink = network->how_to_shrink();
  needs.looking = own.looking + (looks_back ? flat : 0) + (look.last_update ? flat : 0);
  return needs;
}

void refuse_beyond_machine(const std::string& who, double bytes, const std::string& hint) {
  const double total = machine_memory().total;
  if (bytes > total)
    throw Error(ErrorKind::config,
                fmt::format("{} {} of memory, this machine has {}", who, memory_text(bytes), memory_text(total)), {},
                hint);
}

}  // namespace eureka
