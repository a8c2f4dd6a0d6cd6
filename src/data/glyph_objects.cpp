#include "base/error.h"
#include "data/glyph_drawings.h"

namespace eureka {

std::string draw_object(int kind, RandomStream& random) {
  using Draw = std::string (*)(RandomStream&);
  static constexpr Draw kDraws[] = {draw_airplane, draw_car,  draw_bird,  draw_cat,  draw_deer,
                                    draw_dog,      draw_frog, draw_horse, draw_ship, draw_truck};
  EUREKA_CHECK(kind >= 0 && kind < 10, "no such object");
  return kDraws[kind](random);
}

}  // namespace eureka
