#include "tasks/token_places.h"

namespace eureka {
namespace {

// Of a number that is a square; 0 if it is none.
std::int64_t side_of(std::int64_t square) {
  std::int64_t side = 0;
  while (side * side < square) ++side;
  return side * side == square ? side : 0;
}

// For each patch of an image the tile it lies in; empty if there is no such cut.
std::vector<std::int64_t> tiles_of_patches(const ImageShape& image, std::int64_t patches, std::int64_t tiles) {
  if (patches <= 0 || image.height * image.width % patches != 0) return {};
  const std::int64_t side = side_of(image.height * image.width / patches), across = side_of(tiles);
  if (side == 0 || across == 0 || image.height % side != 0 || image.width % side != 0) return {};
  const std::int64_t rows = image.height / side, columns = image.width / side;
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      places.push_back(row * across / rows * across + column * across / columns);
  return places;
}

}  // namespace

std::vector<std::int64_t> token_places(const TaskShape& shape, std::int64_t tokens, std::int64_t places) {
  std::vector<std::int64_t> given;
  if (shape.input() == InputKind::image) {
    given = tiles_of_patches(shape.image, tokens - 1, places);
    if (given.empty()) given = tiles_of_patches(shape.image, tokens, places);
    if (given.empty()) return {};
  } else {
    if (places != shape.tokens || tokens < places) return {};
    for (std::int64_t place = 0; place < places; ++place) given.push_back(place);
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(tokens) - given.size(), -1);
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

}  // namespace eureka
