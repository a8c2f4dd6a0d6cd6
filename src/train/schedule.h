// The learning rate of a step: linear warm-up from min_lr, then cosine to min_lr or constant.
#pragma once

#include "train/config.h"

namespace eureka {

double learning_rate(const TrainOptions& options, std::int64_t step);

}  // namespace eureka
