// Looking inside a step of the fused engine: a pass over the whole model, since training leaves out of it what it does
// not need (only the cls row of the last block, no keys and values there).
#include <algorithm>
#include <cstring>

#include "engine/fused_engine.h"

namespace eureka {

void FusedEngine::observe(const Batch& batch, std::int64_t step, const ObservationRequest& request,
                          ObservationSink& sink) {
  if (inside_ == nullptr) inside_ = std::make_unique<Inside>(config_, weights_);
  Inside& inside = *inside_;
  const bool backward = request.gradients || request.parameter_gradients;
  if (backward) {
    if (inside.gradient.data() == nullptr) inside.gradient = Buffer(model_.floats);
    std::memset(inside.gradient.data(), 0, model_.floats * sizeof(float));
  }
  const auto all = static_cast<std::size_t>(batch.samples);
  const std::size_t seen = request.samples > 0 ? std::min(all, static_cast<std::size_t>(request.samples)) : all;

  begin_pass(batch, 0);
  pack_weights(step);
  inside.observer.start(request, sink);
  const auto pass_over_range = [&](std::size_t begin, std::size_t end, bool shown) {
    for (std::size_t first = begin; first < end; first += inside.model.microbatch) {
      const SampleRange samples{first, std::min(inside.model.microbatch, end - first)};
      inside.pass.forward(batch, samples, step);
      if (!backward) {
        inside.pass.show(inside.observer);
        continue;
      }
      take_losses(batch, samples, inside.pass);
      inside.pass.backward(inside.gradient.data(), shown ? &inside.observer : nullptr);
    }
  };
  if (!request.points.empty() || request.parameter_gradients) pass_over_range(0, seen, !request.points.empty());
  if (request.parameter_gradients) {
    pass_over_range(seen, all, false);
    for (std::size_t i = 0; i < model_.specs.size(); ++i) {
      const Slot& slot = model_.slots[i];
      sink.see_parameter({.spec = &model_.specs[i],
                          .rows = static_cast<std::int64_t>(slot.rows),
                          .columns = static_cast<std::int64_t>(slot.columns),
                          .stride = static_cast<std::int64_t>(slot.stride),
                          .values = values_.data() + slot.offset,
                          .gradient = inside.gradient.data() + slot.offset});
    }
  }
}

}  // namespace eureka
