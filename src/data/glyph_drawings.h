// One drawing of a class, every one another: the hand behind the glyphs.
#pragma once

#include <string>

#include "base/random.h"

namespace eureka {

std::string draw_digit(int digit, RandomStream& random);   // 28 x 28 grey
std::string draw_garment(int kind, RandomStream& random);  // 28 x 28 grey; Fashion-MNIST's classes
std::string draw_car(RandomStream& random);                // 3 x 28 x 28
std::string draw_bird(RandomStream& random);               // 3 x 28 x 28

}  // namespace eureka
