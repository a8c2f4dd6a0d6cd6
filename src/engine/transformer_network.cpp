#include "engine/transformer_network.h"

#include <algorithm>

namespace eureka {

TransformerNetwork::TransformerNetwork(const EngineConfig& config)
    : TransformerNetwork(config, TransformerModel(config)) {}

TransformerNetwork::TransformerNetwork(const EngineConfig& config, TransformerModel model)
    : SamplewiseNetwork(model.layout, config.shape, model.tokens),
      config_(config),
      model_(std::move(model)),
      weights_(model_) {}

NetworkMemory TransformerNetwork::memory(std::size_t, const ObservationRequest& look) const {
  const auto threads = static_cast<std::size_t>(std::max(1, config_.threads));
  NetworkMemory needs{.weights = TransformerWeights::bytes(model_),
                      .activations = threads * TransformerPass::bytes(model_)};
  if (look.points.empty() && look.parameters != ParameterGradients::own_pass) return needs;
  const TransformerModel whole(config_, Extent::whole);
  needs.looking = TransformerPass::bytes(whole) + TransformerObserver::bytes(whole, look);
  if (look.points.has(Point::logits) || look.points.has(Point::weights))
    needs.looking += TransformerPass::bytes_to_show_rows(whole);
  return needs;
}

void TransformerNetwork::allocate() {
  weights_.allocate();
  for (int thread = 0; thread < std::max(1, config_.threads); ++thread)
    add_pass(std::make_unique<TransformerPass>(model_, weights_));
}

// A pass over the whole model, since training leaves out of it what it does not need (in the last block all but the
// rows that answer, and for a cls row its keys and values).
void TransformerNetwork::look(const Look& look, ThreadPool&, AnswerSink& sink) {
  const ObservationRequest& request = look.request;
  const bool whole = request.parameters == ParameterGradients::own_pass;
  if (request.points.empty() && !whole) return;
  if (inside_ == nullptr) inside_ = std::make_unique<Inside>(config_, weights_);
  Inside& inside = *inside_;
  const auto all = static_cast<std::size_t>(look.batch.samples);
  const std::size_t seen = request.samples > 0 ? std::min(all, static_cast<std::size_t>(request.samples)) : all;
  inside.observer.start(request, look.sink);
  const auto pass_over_range = [&](std::size_t begin, std::size_t end, bool shown) {
    for (std::size_t first = begin; first < end; first += inside.model.microbatch) {
      const SampleRange samples{first, std::min(inside.model.microbatch, end - first)};
      inside.pass.forward(look.batch, samples, look.step, Wanted::all);
      if (look.gradient == nullptr) {
        inside.pass.show(inside.observer);
        continue;
      }
      sink.take(samples, inside.pass.predictions(), inside.pass.d_predictions());
      inside.pass.backward(look.gradient, shown ? &inside.observer : nullptr);
    }
  };
  pass_over_range(0, seen, !request.points.empty());
  if (whole) pass_over_range(seen, all, false);
}

}  // namespace eureka
