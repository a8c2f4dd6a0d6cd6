#include "engine/fused_network.h"

#include <algorithm>

namespace eureka {

FlatLayout::FlatLayout(std::vector<ParameterSpec> parameters) : specs(std::move(parameters)) {
  for (const ParameterSpec& spec : specs) {
    Slot slot;
    slot.offset = floats;
    slot.rows = spec.shape.size() > 1 ? static_cast<std::size_t>(spec.shape[0]) : 1;
    slot.columns = static_cast<std::size_t>(spec.size()) / slot.rows;
    slot.stride = round_up(slot.columns);
    floats += slot.floats();
    slots.push_back(slot);
  }
}

Slot FlatLayout::find(const std::string& name) const {
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name == name) return slots[i];
  return {};
}

FusedNetwork::FusedNetwork(FlatLayout layout, const TaskShape& shape)
    : layout_(std::move(layout)),
      answers_(static_cast<std::size_t>(shape.labels())),
      class_stride_(row_stride(static_cast<std::size_t>(shape.classes))) {}

std::size_t group_count(std::size_t samples, std::size_t rows) {
  // Few where adding up their gradients would cost more than it brings.
  constexpr std::size_t kRowsPerGroup = 512;
  std::size_t groups = 2;
  while (groups < kMostGroups && samples * rows >= 2 * groups * kRowsPerGroup) groups *= 2;
  return std::min(groups, std::max<std::size_t>(1, samples));
}

}  // namespace eureka
