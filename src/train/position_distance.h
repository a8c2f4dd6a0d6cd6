// How far apart the learned positions of two sets of tokens lie, for [intervene.positions].
//
//   set_position_distance({.first = "2, 3", .second = "8, 9", .distance = 0.4}, 1, positions);
#pragma once

#include "engine/engine.h"
#include "train/intervention_options.h"

namespace eureka {

// Pairs of tokens keep the mean of their two positions and the direction of the difference; all differences are scaled
// by one factor, so that their root mean square, over pairs and coordinates, is the distance asked for. `before`: rows
// of the table before the first token of the input. Throws Error(config) when the table has no such tokens, or
// differences of 0 would have to grow.
void set_position_distance(const PositionSetting& options, std::size_t before, StateTensor& positions);

}  // namespace eureka
