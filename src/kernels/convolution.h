// Patches of images as the rows of a matrix, and back: a convolution is then a product. Images are channels-last, one
// after the other; the channels of a pixel begin `stride` floats behind those of the pixel before it.
#pragma once

#include <cstddef>

#include "kernels/gemm.h"

namespace eureka {

// Square patches around pixels `step` apart; what lies outside of the image is zero.
struct PatchShape {
  std::size_t height, width, channels, stride;  // of the images
  std::size_t side, step;                       // of the patches; the side is odd

  std::size_t rows() const { return (height - 1) / step + 1; }
  std::size_t columns() const { return (width - 1) / step + 1; }
  std::size_t positions() const { return rows() * columns(); }   // of patches in an image
  std::size_t floats() const { return side * side * channels; }  // of a patch: by lines, pixels, channels
};

// Patches first to first + count - 1 of all images, in reading order, into the rows of `to`.
void gather_patches(const PatchShape& shape, const float* images, std::size_t first, std::size_t count, MatrixC to);

// Adds each patch to the pixels it came from, one after the other.
void add_patches(const PatchShape& shape, MatrixA from, std::size_t first, std::size_t count, float* images);

// The largest value of every patch by channel, and its gradient to the first pixel that has it, added to d_images.
// Values and gradients of all positions, with the stride of the images.
void largest_of_patches(const PatchShape& shape, const float* images, std::size_t count, float* to);
void largest_of_patches_backward(const PatchShape& shape, const float* images, std::size_t count, const float* d,
                                 float* d_images);

}  // namespace eureka
