// The forms data sets come in: IDX (MNIST's own), the binary batches of CIFAR-10, and the JSON rows of the
// Fashion-MNIST package. All of them are read as hostile: sizes are checked before use, and errors say at which byte.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace eureka {

struct IdxImages {
  std::uint32_t count = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::string pixels;  // count x height x width
};

// Plain or gzipped; `where` names the file in errors. No more is unpacked than the header promises.
IdxImages read_idx_images(std::string_view bytes, const std::string& where);
std::string read_idx_labels(std::string_view bytes, const std::string& where);  // one byte each

// A batch of CIFAR-10: calls `visit(label, pixels)` with 3 x 32 x 32 bytes per image.
void read_cifar_batch(std::string_view bytes, const std::string& where,
                      const std::function<void(int label, std::string_view pixels)>& visit);

// {"data":[[784 integers 0..255], ...]}: calls `visit` with 784 bytes per good row; returns how many rows were not
// good.
std::uint64_t read_json_rows(std::string_view text, const std::string& where,
                             const std::function<void(std::string_view pixels)>& visit);

// One plane of bytes to another size: bilinear, with half-pixel centers and no smoothing.
std::string resize_plane(std::string_view plane, int side, int new_side);

}  // namespace eureka
