// Which optimizer, and its constants. The learning rate of a step comes from the schedule.
#pragma once

#include <array>

namespace eureka {

enum class OptimizerKind { adamw, adam, sgd };
constexpr auto enum_names(OptimizerKind) { return std::array{"adamw", "adam", "sgd"}; }

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double momentum = 0.9;
  double weight_decay = 0.05;  // AdamW: decoupled; Adam and SGD: added to the gradient; on matrices only
};

}  // namespace eureka
