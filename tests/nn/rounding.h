// How far rounding alone carries a result: what no computation in float32 can avoid, and hence the measure of one.
#pragma once

#include <vector>

#include "base/random.h"
#include "nn/reference_engine.h"

namespace eureka {

// The smallest relative error that is asked of float32 anywhere, and, where the problem itself is ill-conditioned
// (NormSoftmax of two keys with close logits, LayerNorm over three numbers), so many times the reach of rounding.
inline constexpr double kAllowed = 1e-5;
inline constexpr double kReaches = 64;

// Calls look(batch) with parameters and inputs changed in their last float32 digit, a few times with other draws. The
// engine, one in float64, has its own parameters again afterwards.
template <class Look>
void under_rounding(ReferenceEngine& exact, const Batch& batch, const Look& look) {
  at::Tensor values = exact.parameter_set().values();
  const at::Tensor original = values.clone();
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    RandomStream random(13, "rounding", draw);
    const auto digit = [&] { return static_cast<double>(random.uniform_float() * 2 - 1) * 0x1p-23; };
    Batch nudged = batch;
    for (float& x : nudged.inputs) x = static_cast<float>(x * (1 + digit()));
    {
      const at::NoGradGuard no_grad;
      std::vector<double> factor(static_cast<std::size_t>(values.numel()));
      for (double& f : factor) f = 1 + digit();
      values.copy_(original * at::tensor(factor, at::kDouble).view(values.sizes()));
    }
    look(nudged);
  }
  const at::NoGradGuard no_grad;
  values.copy_(original);
}

}  // namespace eureka
