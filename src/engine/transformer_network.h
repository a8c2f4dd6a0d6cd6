// The transformers in the fused engine.
#pragma once

#include "engine/samplewise_network.h"
#include "engine/transformer_pass.h"

namespace eureka {

class TransformerNetwork final : public SamplewiseNetwork {
 public:
  explicit TransformerNetwork(const EngineConfig& config);

  NetworkMemory memory(std::size_t samples, const ObservationRequest& look) const override;
  const char* how_to_shrink() const override { return "make model.width, model.depth or the task's sequences smaller"; }
  void allocate() override;
  void take_weights(const float* values, std::int64_t step) override { weights_.pack_from(values, step); }
  void look(const Look& look, ThreadPool& pool, AnswerSink& sink) override;

 private:
  // The whole model, for those who look inside; made at the first look and kept.
  struct Inside {
    // The weights are those of training: their layout does not depend on the extent.
    Inside(const EngineConfig& config, const TransformerWeights& weights)
        : model(config, Extent::whole), pass(model, weights), observer(model) {}

    TransformerModel model;
    TransformerPass pass;
    TransformerObserver observer;
  };

  TransformerNetwork(const EngineConfig& config, TransformerModel model);

  EngineConfig config_;
  TransformerModel model_;
  TransformerWeights weights_;
  std::unique_ptr<Inside> inside_;
};

}  // namespace eureka
