// Where the tokens of a model come from: the tokens of a sample, or the tiles of an image that its patches lie in.
//
//   token_places({.tokens = 4, ...}, 5, 4)                      {-1, 0, 1, 2, 3}: a cls token and four given ones
//   token_places({.image = {28, 28, 1}, ...}, 17, 4)            {-1, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, ...}
#pragma once

#include <vector>

#include "tasks/task.h"

namespace eureka {

// For each of a model's `tokens` the place, of `places` that a sample's roles have; -1 for one that is not made of the
// input. Tiles lie in a square, as patches do, in reading order. Empty where the numbers do not fit together.
std::vector<std::int64_t> token_places(const TaskShape& shape, std::int64_t tokens, std::int64_t places);

}  // namespace eureka
