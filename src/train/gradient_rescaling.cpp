#include "train/gradient_rescaling.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.h"

namespace eureka {
namespace {

// Rows of a matrix in the flat gradient.
struct Rows {
  float* data = nullptr;
  std::size_t rows = 0, columns = 0, stride = 0;

  Rows part(std::size_t first, std::size_t count) const { return {data + first * stride, count, columns, stride}; }

  double mean_size() const {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < columns; ++i) sum += std::abs(static_cast<double>(data[row * stride + i]));
    return sum / static_cast<double>(rows * columns);
  }

  void scale_to(double size) const {
    const double own = mean_size();
    if (own == 0) return;
    const auto factor = static_cast<float>(size / own);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < columns; ++i) data[row * stride + i] *= factor;
  }
};

Rows find(const FlatGradient& gradient, const std::vector<ParameterSpec>& parameters, const std::string& name) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name != name) continue;
    const ParameterPart& part = gradient.parts[i];
    return {gradient.floats().data() + part.offset, part.rows, part.columns, part.stride};
  }
  return {};
}

void rescale_block(const Rows& q, const Rows& k, const Rows& v, Rescale how, std::int64_t heads) {
  if (how == Rescale::block_mean) {
    const double mean = (q.mean_size() + k.mean_size() + v.mean_size()) / 3;
    for (const Rows& one : {q, k, v}) one.scale_to(mean);
    return;
  }
  const std::size_t width = q.rows / static_cast<std::size_t>(heads);
  for (std::size_t first = 0; first < q.rows; first += width) {
    const double size = v.part(first, width).mean_size();
    q.part(first, width).scale_to(size);
    k.part(first, width).scale_to(size);
  }
}

}  // namespace

void rescale_gradients(const FlatGradient& gradient, const std::vector<ParameterSpec>& parameters, Rescale how,
                       std::int64_t heads) {
  for (int layer = 0;; ++layer) {
    const auto matrix = [&](const char* letter) {
      return find(gradient, parameters, fmt::format("blocks.{}.attn.{}.weight", layer, letter));
    };
    const Rows q = matrix("q");
    if (q.data == nullptr) return;
    rescale_block(q, matrix("k"), matrix("v"), how, heads);
  }
}

double norm_of(const FlatGradient& gradient) {
  double square = 0;
  for (const float value : gradient.floats()) square += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(square);
}

}  // namespace eureka
