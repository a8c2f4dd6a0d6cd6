// The multilayer perceptron in the fused engine.
#pragma once

#include "engine/mlp_layout.h"
#include "engine/samplewise_network.h"

namespace eureka {

class MlpNetwork final : public SamplewiseNetwork {
 public:
  explicit MlpNetwork(const EngineConfig& config);

  NetworkMemory memory(std::size_t samples, const ObservationRequest& look) const override;
  const char* how_to_shrink() const override { return "make model.hidden or model.layers smaller"; }
  void allocate() override;
  void take_weights(const float* values, std::int64_t step) override;

 private:
  // One linear layer, of which all but the last are followed by a gelu.
  struct Layer {
    Slot weight, bias;
    Buffer forward, back;  // packed factors of x W^T and of dy W; the first layer has no way back
    const float* bias_values = nullptr;

    std::size_t inputs() const { return weight.columns; }
    std::size_t outputs() const { return weight.rows; }
    std::size_t input_stride() const { return row_stride(inputs()); }
    std::size_t output_stride() const { return row_stride(outputs()); }
    std::size_t forward_floats() const { return round_up(outputs()) * inputs(); }
    std::size_t back_floats() const { return outputs() * round_up(inputs()); }
  };

  class Pass;

  std::size_t threads_;
  std::vector<Layer> layers_;
};

}  // namespace eureka
