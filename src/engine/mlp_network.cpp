#include "engine/mlp_network.h"

#include <algorithm>
#include <cstring>

#include "base/work_part.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace eureka {
namespace {

MlpOptions options_of(const EngineConfig& config) {
  MlpOptions options;
  assign(options, config.model_options);
  return options;
}

}  // namespace

class MlpNetwork::Pass final : public SamplePass {
 public:
  explicit Pass(const std::vector<Layer>& layers) : layers_(layers), inputs_(rows() * layers[0].input_stride()) {
    for (const Layer& layer : layers_) {
      const std::size_t floats = rows() * layer.output_stride();
      const bool last = &layer == &layers_.back();
      kept_.push_back({Buffer(floats), Buffer(last ? 0 : floats), Buffer(floats)});
    }
  }

  void forward(const Batch& batch, SampleRange samples, std::int64_t, Wanted) override {
    count_ = samples.count;
    gather(batch, samples);
    const InPart part(WorkPart::products);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const ProductSize size{count_, layer.outputs(), layer.inputs()};
      const MatrixB weight = MatrixB::packed(layer.forward.data(), layer.inputs());
      const MatrixC y{kept_[i].y.data(), layer.output_stride()};
      if (i + 1 < layers_.size())
        multiply_gelu(size, input_of(i), weight, layer.bias_values, y, kept_[i].slope.data());
      else
        multiply_add_bias(size, input_of(i), weight, layer.bias_values, y);
    }
  }

  void backward(float* gradient) override {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const Layer& layer = layers_[i];
      const MatrixA dy{kept_[i].dy.data(), layer.output_stride()}, x = input_of(i);
      InPart part(WorkPart::weight_gradients);
      multiply_transposed_accumulate({layer.outputs(), layer.inputs(), count_}, dy, MatrixB::plain(x.data, x.stride),
                                     {gradient + layer.weight.offset, layer.weight.stride});
      add_column_sums(dy.data, count_, layer.outputs(), dy.stride, gradient + layer.bias.offset);
      if (i == 0) return;
      part.next(WorkPart::products);
      multiply_by_slope({count_, layer.inputs(), layer.outputs()}, dy,
                        MatrixB::packed(layer.back.data(), layer.outputs()), kept_[i - 1].slope.data(),
                        {kept_[i - 1].dy.data(), layer.input_stride()});
    }
  }

  const float* predictions() const override { return kept_.back().y.data(); }
  float* d_predictions() override { return kept_.back().dy.data(); }

  static std::size_t bytes(const std::vector<Layer>& layers) {
    std::size_t total = Buffer::bytes(rows() * layers[0].input_stride());
    for (const Layer& layer : layers) {
      const std::size_t floats = rows() * layer.output_stride();
      total += 2 * Buffer::bytes(floats) + Buffer::bytes(&layer == &layers.back() ? 0 : floats);
    }
    return total;
  }

 private:
  // Of one layer, from the forward to the backward pass.
  struct Kept {
    Buffer y, slope, dy;
  };

  static std::size_t rows() { return microbatch_of(1); }

  MatrixA input_of(std::size_t layer) const {
    return {layer == 0 ? inputs_.data() : kept_[layer - 1].y.data(), layers_[layer].input_stride()};
  }

  void gather(const Batch& batch, SampleRange samples) {
    const InPart part(WorkPart::embedding);
    const std::size_t values = layers_[0].inputs(), stride = layers_[0].input_stride();
    for (std::size_t s = 0; s < samples.count; ++s)
      std::memcpy(inputs_.data() + s * stride, batch.inputs.data() + (samples.first + s) * values,
                  values * sizeof(float));
  }

  const std::vector<Layer>& layers_;
  Buffer inputs_;
  std::vector<Kept> kept_;
  std::size_t count_ = 0;
};

MlpNetwork::MlpNetwork(const EngineConfig& config)
    : SamplewiseNetwork(FlatLayout(mlp_parameters(options_of(config), config.shape)), config.shape, 1),
      threads_(static_cast<std::size_t>(std::max(1, config.threads))) {
  for (const std::string& name : mlp_layers(options_of(config))) {
    Layer& layer = layers_.emplace_back();
    layer.weight = layout().find(name + ".weight");
    layer.bias = layout().find(name + ".bias");
  }
}

NetworkMemory MlpNetwork::memory(std::size_t, const ObservationRequest&) const {
  NetworkMemory needs{.activations = threads_ * Pass::bytes(layers_)};
  for (const Layer& layer : layers_) {
    needs.weights += Buffer::bytes(layer.forward_floats());
    if (&layer != &layers_.front()) needs.weights += Buffer::bytes(layer.back_floats());
  }
  return needs;
}

void MlpNetwork::allocate() {
  for (Layer& layer : layers_) {
    layer.forward = Buffer(layer.forward_floats());
    if (&layer != &layers_.front()) layer.back = Buffer(layer.back_floats());
  }
  for (std::size_t thread = 0; thread < threads_; ++thread) add_pass(std::make_unique<Pass>(layers_));
}

void MlpNetwork::take_weights(const float* values, std::int64_t) {
  for (Layer& layer : layers_) {
    const float* weight = values + layer.weight.offset;
    pack_transposed(weight, layer.outputs(), layer.inputs(), layer.weight.stride, layer.forward.data());
    if (!layer.back.empty())
      pack(weight, layer.outputs(), layer.inputs(), layer.weight.stride, 0, layer.outputs(), layer.back.data());
    layer.bias_values = values + layer.bias.offset;
  }
}

}  // namespace eureka
