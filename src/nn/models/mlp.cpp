// A multilayer perceptron on all tokens side by side: the baseline without attention. It learns the two-step tasks
// without a plateau.
#include <fmt/format.h>

#include "base/error.h"
#include "nn/model.h"

namespace eureka {
namespace {

struct Options {
  int hidden = 256;
  int layers = 2;

  template <class V>
  void visit(V& v) {
    v("hidden", hidden, Range{1, 65536}, "units of a hidden layer");
    v("layers", layers, Range{1, 64}, "hidden layers");
  }
};

class Mlp final : public Model {
 public:
  explicit Mlp(const Options& options) : options_(options) {}

  std::vector<ParameterSpec> declare(const ModelContext& context) override {
    std::vector<ParameterSpec> specs;
    const auto layer = [&](const std::string& name, std::int64_t from, std::int64_t to, ParameterGroup group) {
      const Initializer uniform = Initializer::uniform_fan_in(from);
      specs.push_back({name + ".weight", {to, from}, group, uniform, true});
      specs.push_back({name + ".bias", {to}, group, uniform, false});
    };
    if (context.shape.every_position || context.shape.input() == InputKind::ids)
      throw Error(ErrorKind::config, "model 'mlp' takes vectors or images and answers once per sample", {},
                  "use --set model.name=decoder or model.name=transformer");
    std::int64_t width = context.shape.values();
    for (int i = 0; i < options_.layers; ++i) {
      layer(fmt::format("layers.{}", i), width, options_.hidden, ParameterGroup::mlp);
      width = options_.hidden;
    }
    layer("head", width, context.shape.classes, ParameterGroup::head);
    return specs;
  }

  void bind(const ParameterSet& parameters) override {
    weights_.clear();
    for (int i = 0; i < options_.layers; ++i)
      weights_.emplace_back(parameters[fmt::format("layers.{}.weight", i)],
                            parameters[fmt::format("layers.{}.bias", i)]);
    weights_.emplace_back(parameters["head.weight"], parameters["head.bias"]);
  }

  at::Tensor forward(const ModelInputs& inputs, const ForwardContext&) const override {
    at::Tensor x = inputs.values.flatten(1);
    for (std::size_t i = 0; i + 1 < weights_.size(); ++i)
      x = at::gelu(at::linear(x, weights_[i].first, weights_[i].second));
    return at::linear(x, weights_.back().first, weights_.back().second);
  }

 private:
  Options options_;
  std::vector<std::pair<at::Tensor, at::Tensor>> weights_;
};

EUREKA_MODEL("mlp", Mlp, Options, "multilayer perceptron on all tokens at once: no attention, no plateau");

}  // namespace
}  // namespace eureka
