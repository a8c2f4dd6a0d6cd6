#include "kernels/convolution.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/vector8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace eureka::HWY_NAMESPACE {
namespace {

// The lines of a patch, in its order: outside(place in the patch, floats) for what lies outside of the image,
// inside(place in the patch, first pixel, pixels) for the rest.
template <class Outside, class Inside>
HWY_INLINE void for_lines(const PatchShape& shape, std::size_t row, std::size_t column, const Outside& outside,
                          const Inside& inside) {
  const std::size_t reach = shape.side / 2, line = shape.side * shape.channels;
  const std::size_t x = column * shape.step, left = x < reach ? reach - x : 0;
  const std::size_t right = HWY_MIN(shape.side, shape.width + reach - x);
  for (std::size_t i = 0; i < shape.side; ++i) {
    const std::size_t y = row * shape.step + i - reach;
    // Below zero it is very large.
    if (y >= shape.height) {
      outside(i * line, line);
      continue;
    }
    if (left > 0) outside(i * line, left * shape.channels);
    inside(i * line + left * shape.channels, y * shape.width + x + left - reach, right - left);
    if (right < shape.side) outside(i * line + right * shape.channels, (shape.side - right) * shape.channels);
  }
}

// action(number of the patch among all, number of the image, row, column)
template <class Action>
HWY_INLINE void for_patches(const PatchShape& shape, std::size_t first, std::size_t count, const Action& action) {
  const std::size_t rows = shape.rows(), columns = shape.columns();
  std::size_t image = first / (rows * columns), row = first / columns % rows, column = first % columns;
  for (std::size_t i = 0; i < count; ++i) {
    action(i, image, row, column);
    if (++column < columns) continue;
    column = 0;
    if (++row < rows) continue;
    row = 0;
    ++image;
  }
}

HWY_INLINE void copy(const float* from, std::size_t count, float* to) {
  const Tag8 d;
  std::size_t i = 0;
  for (; i + kLanes8 <= count; i += kLanes8) v8::StoreU(v8::LoadU(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

HWY_INLINE void add(const float* from, std::size_t count, float* to) {
  const Tag8 d;
  std::size_t i = 0;
  for (; i + kLanes8 <= count; i += kLanes8)
    v8::StoreU(v8::Add(v8::LoadU(d, to + i), v8::LoadU(d, from + i)), d, to + i);
  for (; i < count; ++i) to[i] += from[i];
}

void gather(const PatchShape& shape, const float* images, std::size_t first, std::size_t count, MatrixC to) {
  const std::size_t floats = shape.height * shape.width * shape.stride, channels = shape.channels;
  for_patches(shape, first, count, [&](std::size_t i, std::size_t image, std::size_t row, std::size_t column) HWY_ATTR {
    float* patch = to.data + i * to.stride;
    const float* from = images + image * floats;
    for_lines(
        shape, row, column,
        [&](std::size_t place, std::size_t number) HWY_ATTR { std::memset(patch + place, 0, number * sizeof(float)); },
        [&](std::size_t place, std::size_t pixel, std::size_t pixels) HWY_ATTR {
          const float* values = from + pixel * shape.stride;
          if (shape.stride == channels) return copy(values, pixels * channels, patch + place);
          if (channels == kLanes8) {
            for (std::size_t j = 0; j < pixels; ++j)
              copy(values + j * shape.stride, kLanes8, patch + place + j * kLanes8);
            return;
          }
          for (std::size_t j = 0; j < pixels; ++j)
            copy(values + j * shape.stride, channels, patch + place + j * channels);
        });
  });
}

void add_back(const PatchShape& shape, MatrixA from, std::size_t first, std::size_t count, float* images) {
  const std::size_t floats = shape.height * shape.width * shape.stride, channels = shape.channels;
  for_patches(shape, first, count, [&](std::size_t i, std::size_t image, std::size_t row, std::size_t column) HWY_ATTR {
    const float* patch = from.data + i * from.stride;
    float* to = images + image * floats;
    for_lines(
        shape, row, column, [](std::size_t, std::size_t) {},
        [&](std::size_t place, std::size_t pixel, std::size_t pixels) HWY_ATTR {
          float* values = to + pixel * shape.stride;
          if (shape.stride == channels) return add(patch + place, pixels * channels, values);
          if (channels == kLanes8) {
            for (std::size_t j = 0; j < pixels; ++j)
              add(patch + place + j * kLanes8, kLanes8, values + j * shape.stride);
            return;
          }
          for (std::size_t j = 0; j < pixels; ++j)
            add(patch + place + j * channels, channels, values + j * shape.stride);
        });
  });
}

// What is not a number is larger than all.
HWY_INLINE bool is_larger(float x, float than) { return x > than || x != x; }

void largest(const PatchShape& shape, const float* images, std::size_t count, float* to) {
  const std::size_t floats = shape.height * shape.width * shape.stride;
  for_patches(shape, 0, count * shape.positions(),
              [&](std::size_t i, std::size_t image, std::size_t row, std::size_t column) HWY_ATTR {
                float* best = to + i * shape.stride;
                bool empty = true;
                for_lines(
                    shape, row, column, [](std::size_t, std::size_t) {},
                    [&](std::size_t, std::size_t pixel, std::size_t pixels) HWY_ATTR {
                      const float* values = images + image * floats + pixel * shape.stride;
                      for (std::size_t j = 0; j < pixels; ++j, values += shape.stride, empty = false)
                        for (std::size_t c = 0; c < shape.channels; ++c)
                          if (empty || is_larger(values[c], best[c])) best[c] = values[c];
                    });
              });
}

void largest_backward(const PatchShape& shape, const float* images, std::size_t count, const float* d,
                      float* d_images) {
  const std::size_t floats = shape.height * shape.width * shape.stride;
  for_patches(shape, 0, count * shape.positions(),
              [&](std::size_t i, std::size_t image, std::size_t row, std::size_t column) HWY_ATTR {
                for (std::size_t c = 0; c < shape.channels; ++c) {
                  const float* values = images + image * floats + c;
                  const float* best = nullptr;
                  for_lines(
                      shape, row, column, [](std::size_t, std::size_t) {},
                      [&](std::size_t, std::size_t pixel, std::size_t pixels) {
                        for (std::size_t j = pixel; j < pixel + pixels; ++j)
                          if (best == nullptr || is_larger(values[j * shape.stride], *best))
                            best = values + j * shape.stride;
                      });
                  d_images[best - images] += d[i * shape.stride + c];
                }
              });
}

}  // namespace
}  // namespace eureka::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eureka {

HWY_EXPORT(gather);
HWY_EXPORT(add_back);
HWY_EXPORT(largest);
HWY_EXPORT(largest_backward);

void gather_patches(const PatchShape& shape, const float* images, std::size_t first, std::size_t count, MatrixC to) {
  HWY_DYNAMIC_DISPATCH(gather)(shape, images, first, count, to);
}

void add_patches(const PatchShape& shape, MatrixA from, std::size_t first, std::size_t count, float* images) {
  HWY_DYNAMIC_DISPATCH(add_back)(shape, from, first, count, images);
}

void largest_of_patches(const PatchShape& shape, const float* images, std::size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(largest)(shape, images, count, to);
}

void largest_of_patches_backward(const PatchShape& shape, const float* images, std::size_t count, const float* d,
                                 float* d_images) {
  HWY_DYNAMIC_DISPATCH(largest_backward)(shape, images, count, d, d_images);
}

}  // namespace eureka
#endif
