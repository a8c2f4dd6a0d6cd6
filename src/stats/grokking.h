// Grokking told from a Eureka-moment by the training curve: in a moment both curves are stuck and rise together; in
// grokking training was solved long before, and only validation was left to follow (Power et al. 2022).
#pragma once

#include <span>

#include "stats/detector.h"

namespace eureka {

// Whether training had got ahead during the second half of the plateau that this rise of the validation curve leaves,
// and gained little more while validation rose. False where there is no training curve to tell by. Both curves are of
// one metric; an offset between them, as label smoothing makes, does no harm.
bool follows_training(const Moment& rise, std::span<const CurvePoint> training);

// The same of a rise that the curve ended in.
bool follows_training(const UnderWay& rise, std::span<const CurvePoint> training);

}  // namespace eureka
