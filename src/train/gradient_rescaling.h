// Sizes of the gradients of queries, keys and values made equal, between gradient() and update(): the baselines that
// show whether their magnitude alone keeps a model on its plateau.
//
// The size of a gradient is the mean of its absolute values. block_mean: those of W_Q, W_K and W_V in a block become
// their mean. heads_to_value: in every head, those of its rows of W_Q and W_K become that of its rows of W_V. A
// gradient that is zero has no direction and stays.
#pragma once

#include "engine/engine.h"
#include "train/intervention_options.h"

namespace eureka {

// In place. Requires: single precision, on the host; parameters named as in a transformer.
void rescale_gradients(const FlatGradient& gradient, const std::vector<ParameterSpec>& parameters, Rescale how,
                       std::int64_t heads);

// Of the whole gradient.
double norm_of(const FlatGradient& gradient);

}  // namespace eureka
