// A multilayer perceptron on all tokens side by side: the baseline without attention. It learns the two-step tasks
// without a plateau.
#include "engine/mlp_layout.h"

#include "engine/fused_models.h"
#include "nn/model.h"

namespace eureka {
namespace {

class Mlp final : public Model {
 public:
  explicit Mlp(const MlpOptions& options) : options_(options) {}

  std::vector<ParameterSpec> declare(const ModelContext& context) override {
    return mlp_parameters(options_, context.shape);
  }

  void bind(const ParameterSet& parameters) override {
    weights_.clear();
    for (const std::string& name : mlp_layers(options_))
      weights_.emplace_back(parameters[name + ".weight"], parameters[name + ".bias"]);
  }

  at::Tensor forward(const ModelInputs& inputs, const ForwardContext&) const override {
    at::Tensor x = inputs.values.flatten(1);
    for (std::size_t i = 0; i + 1 < weights_.size(); ++i)
      x = at::gelu(at::linear(x, weights_[i].first, weights_[i].second));
    return at::linear(x, weights_.back().first, weights_.back().second);
  }

 private:
  MlpOptions options_;
  std::vector<std::pair<at::Tensor, at::Tensor>> weights_;
};

EUREKA_MODEL("mlp", Mlp, MlpOptions, fused_model_description("mlp"));

}  // namespace
}  // namespace eureka
