// What happens inside the attention of one batch, for diagnostics: values, and the gradients of the loss by them.
//
//   const Observation seen = engine.observe(batch, step);
//   seen.blocks[0].q.gradient        samples x heads x tokens x head width
//
// Observing is a pass of its own before a training step: it changes no parameter and no bit of the run, and costs
// nothing in steps that are not observed.
#pragma once

#include <cstdint>
#include <vector>

namespace eureka {

struct ObservedTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  std::vector<float> gradient;  // of the loss of the whole batch, as in a training step
};

struct ObservedBlock {
  ObservedTensor q, k;  // samples x heads x tokens x head width, as they meet: after QK-norm, where there is one
  ObservedTensor v, head_output;   // likewise
  ObservedTensor logits, weights;  // samples x heads x queries x keys; logits are q.k before the scale
  ObservedTensor residual;         // samples x tokens x width, where it enters the block
};

struct Observation {
  double loss = 0;
  std::vector<ObservedBlock> blocks;
  ObservedTensor residual;  // behind the last block
};

}  // namespace eureka
