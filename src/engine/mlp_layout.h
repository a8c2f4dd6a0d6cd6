// The multilayer perceptron as data: its options and its parameters. Engines differ in how they compute, not in what.
#pragma once

#include <vector>

#include "engine/parameters.h"
#include "tasks/task.h"

namespace eureka {

struct MlpOptions {
  int hidden = 256;
  int layers = 2;

  template <class V>
  void visit(V& v) {
    v("hidden", hidden, Range{1, 65536}, "units of a hidden layer");
    v("layers", layers, Range{1, 64}, "hidden layers");
  }
};

// "layers.0" and so on, then "head".
std::vector<std::string> mlp_layers(const MlpOptions& options);

// Weight and bias of each layer, in their order. Throws Error(config) when the task does not suit the model.
std::vector<ParameterSpec> mlp_parameters(const MlpOptions& options, const TaskShape& shape);

}  // namespace eureka
