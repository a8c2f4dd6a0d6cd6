// One drawing of a class, every one another: the hand behind the glyphs.
#pragma once

#include <string>

#include "base/random.h"

namespace eureka {

std::string draw_digit(int digit, RandomStream& random);   // 28 x 28 gray
std::string draw_garment(int kind, RandomStream& random);  // 28 x 28 gray; Fashion-MNIST's classes
std::string draw_object(int kind, RandomStream& random);   // 3 x 28 x 28; CIFAR-10's classes, one of those below

std::string draw_airplane(RandomStream& random);
std::string draw_car(RandomStream& random);
std::string draw_bird(RandomStream& random);
std::string draw_cat(RandomStream& random);
std::string draw_deer(RandomStream& random);
std::string draw_dog(RandomStream& random);
std::string draw_frog(RandomStream& random);
std::string draw_horse(RandomStream& random);
std::string draw_ship(RandomStream& random);
std::string draw_truck(RandomStream& random);

}  // namespace eureka
