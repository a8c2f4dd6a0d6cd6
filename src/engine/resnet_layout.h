// Residual convolutional networks as data: options, layers, parameters. A stem, four stages of basic blocks (two 3x3
// convolutions with batch normalization around a shortcut), the mean over the image, a linear classifier. Engines
// differ in how they compute, not in what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/parameters.h"
#include "tasks/task.h"

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

// Of batch normalization: how fast the running statistics follow, and what is added to a variance.
inline constexpr double kRunningShare = 0.1;
inline constexpr double kVarianceEpsilon = 1e-5;

// A convolution followed by batch normalization.
struct ConvolutionPlan {
  std::string name;
  std::int64_t from = 0, to = 0, side = 0, step = 1;
};

struct ResidualBlockPlan {
  ConvolutionPlan first, second;
  std::optional<ConvolutionPlan> shortcut;  // where size or channels change
};

struct ResNetPlan {
  ConvolutionPlan stem;
  bool pools = false;  // the largest of 3 x 3 pixels, every second, behind the stem
  std::vector<ResidualBlockPlan> blocks;
  std::int64_t channels = 0;  // behind the last block
  std::int64_t classes = 0;

  // In the order of their parameters.
  std::vector<ConvolutionPlan> convolutions() const;
};

// Throws Error(config) when the task does not suit the model.
ResNetPlan plan_resnet(const ResNetOptions& options, int blocks_per_stage, const TaskShape& shape);

std::vector<ParameterSpec> resnet_parameters(const ResNetPlan& plan);

}  // namespace eureka
