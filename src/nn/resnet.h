// Residual convolutional networks on images: the baseline that shows no plateau. A stem, four stages of basic blocks
// (two 3x3 convolutions with batch normalization around a shortcut), the mean over the image, a linear classifier.
#pragma once

#include "nn/model.h"

namespace eureka {

enum class Stem { small, imagenet };
constexpr auto enum_names(Stem) { return std::array{"small", "imagenet"}; }

struct ResNetOptions {
  int width = 64;
  Stem stem = Stem::small;

  template <class V>
  void visit(V& v) {
    v("width", width, Range{1, 4096}, "channels of the first stage; each later stage has twice as many");
    v("stem", stem, "small: 3x3 convolution; imagenet: 7x7 with stride 2, then pooling with stride 2");
  }
};

class ResNet : public Model {
 public:
  ResNet(const ResNetOptions& options, int blocks_per_stage) : options_(options), blocks_per_stage_(blocks_per_stage) {}

  std::vector<ParameterSpec> declare(const ModelContext& context) override;
  void bind(const ParameterSet& parameters) override;
  at::Tensor forward(const ModelInputs& inputs, const ForwardContext& context) const override;
  std::vector<ModelBuffer> buffers() const override;

 private:
  // A convolution followed by batch normalization.
  struct Layer {
    std::string name;
    std::int64_t from, to, kernel, stride;
    at::Tensor weight, gain, bias, running_mean, running_variance;

    at::Tensor operator()(const at::Tensor& x, const ForwardContext& context) const;
  };
  struct Block {
    Layer first, second;
    std::optional<Layer> shortcut;  // where size or channels change
  };

  // action(layer) for all layers of a ResNet, const or not.
  template <class Self, class Action>
  static void for_each_layer(Self& self, const Action& action);

  ResNetOptions options_;
  int blocks_per_stage_;
  Layer stem_;
  std::vector<Block> blocks_;
  at::Tensor head_weight_, head_bias_;
};

}  // namespace eureka
