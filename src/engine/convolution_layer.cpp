#include "engine/convolution_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/work_part.h"
#include "kernels/batch_norm.h"
#include "kernels/gemm.h"

namespace eureka {
namespace {

PatchShape patches_of(const ConvolutionPlan& plan, const ImageShape& input) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(input.height), size(input.width), size(input.channels), row_stride(size(input.channels)),
          size(plan.side),    size(plan.step)};
}

}  // namespace

ConvolutionLayer::ConvolutionLayer(const ConvolutionPlan& plan, const ImageShape& input, const FlatLayout& layout)
    : name_(plan.name),
      patches_(patches_of(plan, input)),
      weight_(layout.find(plan.name + ".weight")),
      gain_(layout.find(plan.name + ".norm.weight")),
      bias_(layout.find(plan.name + ".norm.bias")),
      running_mean_(channels(), 0.0F),
      running_variance_(channels(), 1.0F),
      next_mean_(running_mean_),
      next_variance_(running_variance_),
      mean_(channels()),
      inverse_deviation_(channels()) {
  for (Share& share : shares_) share = {std::vector<double>(stride()), std::vector<double>(stride())};
}

std::vector<ConvolutionLayer::Memory> ConvolutionLayer::memory() const {
  return {{&ConvolutionLayer::ordered_, weight_.floats()},
          {&ConvolutionLayer::forward_, round_up(weight_.rows) * weight_.columns},
          {&ConvolutionLayer::back_, weight_.rows * round_up(weight_.columns)},
          {&ConvolutionLayer::scale_, stride()},
          {&ConvolutionLayer::shift_, stride()},
          {&ConvolutionLayer::factor_, stride()},
          {&ConvolutionLayer::offset_, stride()},
          {&ConvolutionLayer::slope_, stride()},
          {&ConvolutionLayer::center_, stride()}};
}

std::size_t ConvolutionLayer::bytes() const {
  std::size_t total = 0;
  for (const Memory& part : memory()) total += Buffer::bytes(part.floats);
  return total;
}

void ConvolutionLayer::allocate() {
  for (const auto& [buffer, floats] : memory()) this->*buffer = Buffer(floats);
}

std::size_t ConvolutionLayer::patches_at_once() const {
  // As much as stays in the second-level cache, but rows enough to be worth reading the weights for.
  constexpr std::size_t kFloats = std::size_t{1} << 14, kFewest = 96;
  return std::max(kFewest, kFloats / patches_.floats());
}

ConvolutionLayer::ScratchSize ConvolutionLayer::scratch_size(const std::vector<ConvolutionLayer>& layers) {
  ScratchSize most;
  for (const ConvolutionLayer& layer : layers) {
    most.patches = std::max(most.patches, layer.patches_at_once() * row_stride(layer.patches_.floats()));
    most.dy = std::max(most.dy, layer.patches_at_once() * layer.stride());
    most.weight = std::max(most.weight, layer.weight_.floats());
  }
  return most;
}

ConvolutionLayer::Scratch::Scratch(const std::vector<ConvolutionLayer>& layers) {
  const ScratchSize size = scratch_size(layers);
  patches = Buffer(size.patches);
  d_patches = Buffer(size.patches);
  dy = Buffer(size.dy);
  d_weight = Buffer(size.weight);
}

std::size_t ConvolutionLayer::Scratch::bytes(const std::vector<ConvolutionLayer>& layers) {
  const ScratchSize size = scratch_size(layers);
  return 2 * Buffer::bytes(size.patches) + Buffer::bytes(size.dy) + Buffer::bytes(size.weight);
}

ImageShape ConvolutionLayer::output() const {
  return {static_cast<std::int64_t>(patches_.rows()), static_cast<std::int64_t>(patches_.columns()),
          static_cast<std::int64_t>(channels())};
}

void ConvolutionLayer::take_weights(const float* values) {
  values_ = values;
  const std::size_t pixels = patches_.side * patches_.side;
  for (std::size_t row = 0; row < weight_.rows; ++row) {
    const float* from = values + weight_.offset + row * weight_.stride;
    float* to = ordered_.data() + row * weight_.stride;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      for (std::size_t c = 0; c < patches_.channels; ++c) to[pixel * patches_.channels + c] = from[c * pixels + pixel];
  }
  pack_transposed(ordered_.data(), weight_.rows, weight_.columns, weight_.stride, forward_.data());
  pack(ordered_.data(), weight_.rows, weight_.columns, weight_.stride, 0, weight_.rows, back_.data());
}

void ConvolutionLayer::convolve(const float* x, std::size_t samples, float* y, Scratch& scratch) const {
  const std::size_t rows = samples * patches_.positions(), depth = patches_.floats();
  const MatrixC matrix{scratch.patches.data(), row_stride(depth)};
  for (std::size_t first = 0; first < rows; first += patches_at_once()) {
    const std::size_t count = std::min(patches_at_once(), rows - first);
    InPart part(WorkPart::embedding);
    gather_patches(patches_, x, first, count, matrix);
    part.next(WorkPart::products);
    multiply({count, channels(), depth}, {matrix.data, matrix.stride}, MatrixB::packed(forward_.data(), depth),
             {y + first * stride(), stride()});
  }
}

void ConvolutionLayer::add_statistics(std::size_t group, std::size_t samples, const float* y) {
  const InPart part(WorkPart::layer_norm);
  add_moments({samples * patches_.positions(), channels(), stride()}, y, shares_[group].first.data(),
              shares_[group].second.data());
}

ConvolutionLayer::Share& ConvolutionLayer::join(std::size_t groups) {
  Share& all = shares_[0];
  for (std::size_t group = 1; group < groups; ++group) {
    Share& share = shares_[group];
    for (std::size_t c = 0; c < channels(); ++c) {
      all.first[c] += share.first[c];
      all.second[c] += share.second[c];
    }
    std::ranges::fill(share.first, 0.0);
    std::ranges::fill(share.second, 0.0);
  }
  return all;
}

void ConvolutionLayer::set_scale(std::size_t channel, double mean, double inverse_deviation) {
  const double scale = static_cast<double>(values_[gain_.offset + channel]) * inverse_deviation;
  scale_.data()[channel] = static_cast<float>(scale);
  shift_.data()[channel] = static_cast<float>(static_cast<double>(values_[bias_.offset + channel]) - mean * scale);
}

void ConvolutionLayer::join_statistics(std::size_t groups, std::size_t samples, bool learn) {
  Share& all = join(groups);
  const auto count = static_cast<double>(samples * patches_.positions());
  for (std::size_t c = 0; c < channels(); ++c) {
    const double mean = all.first[c] / count;
    const double variance = std::max(0.0, all.second[c] / count - mean * mean);
    mean_[c] = mean;
    inverse_deviation_[c] = 1 / std::sqrt(variance + kVarianceEpsilon);
    set_scale(c, mean, inverse_deviation_[c]);
    if (learn) {
      const auto following = [](float running, double now) {
        return static_cast<float>((1 - kRunningShare) * static_cast<double>(running) + kRunningShare * now);
      };
      next_mean_[c] = following(running_mean_[c], mean);
      next_variance_[c] = following(running_variance_[c], variance * count / std::max(1.0, count - 1));
    }
    all.first[c] = all.second[c] = 0;
  }
}

void ConvolutionLayer::learn_statistics() {
  running_mean_ = next_mean_;
  running_variance_ = next_variance_;
}

void ConvolutionLayer::use_running_statistics() {
  for (std::size_t c = 0; c < channels(); ++c)
    set_scale(c, static_cast<double>(running_mean_[c]),
              1 / std::sqrt(static_cast<double>(running_variance_[c]) + kVarianceEpsilon));
}

void ConvolutionLayer::normalize(const float* y, std::size_t samples, const float* residual, bool rectified,
                                 float* out) const {
  const InPart part(WorkPart::layer_norm);
  scale_and_shift({samples * patches_.positions(), channels(), stride()}, y, scale_.data(), shift_.data(), residual,
                  rectified, out);
}

void ConvolutionLayer::add_gradient_statistics(std::size_t group, std::size_t samples, const float* rectified, float* d,
                                               const float* y) {
  const InPart part(WorkPart::layer_norm);
  add_gradient_moments({samples * patches_.positions(), channels(), stride()}, rectified, d, y,
                       shares_[group].first.data(), shares_[group].second.data());
}

void ConvolutionLayer::join_gradient_statistics(std::size_t groups, std::size_t samples, float* gradient) {
  Share& all = join(groups);
  const auto count = static_cast<double>(samples * patches_.positions());
  for (std::size_t c = 0; c < channels(); ++c) {
    const double d_bias = all.first[c], d_gain = inverse_deviation_[c] * (all.second[c] - mean_[c] * d_bias);
    gradient[gain_.offset + c] += static_cast<float>(d_gain);
    gradient[bias_.offset + c] += static_cast<float>(d_bias);
    factor_.data()[c] = static_cast<float>(static_cast<double>(values_[gain_.offset + c]) * inverse_deviation_[c]);
    offset_.data()[c] = static_cast<float>(d_bias / count);
    slope_.data()[c] = static_cast<float>(inverse_deviation_[c] * d_gain / count);
    center_.data()[c] = static_cast<float>(mean_[c]);
    all.first[c] = all.second[c] = 0;
  }
}

void ConvolutionLayer::backward(const float* x, const float* y, const float* d, std::size_t samples, float* gradient,
                                float* dx, Scratch& scratch) const {
  const std::size_t rows = samples * patches_.positions(), floats = patches_.floats(), ld = row_stride(floats);
  const NormGradient norm{factor_.data(), offset_.data(), slope_.data(), center_.data()};
  const MatrixA dy{scratch.dy.data(), stride()};
  std::memset(scratch.d_weight.data(), 0, weight_.floats() * sizeof(float));
  for (std::size_t first = 0; first < rows; first += patches_at_once()) {
    const std::size_t count = std::min(patches_at_once(), rows - first);
    InPart part(WorkPart::layer_norm);
    norm_gradient({count, channels(), stride()}, norm, d + first * stride(), y + first * stride(), scratch.dy.data());
    part.next(WorkPart::embedding);
    gather_patches(patches_, x, first, count, {scratch.patches.data(), ld});
    part.next(WorkPart::weight_gradients);
    multiply_transposed_accumulate({channels(), floats, count}, dy, MatrixB::plain(scratch.patches.data(), ld),
                                   {scratch.d_weight.data(), weight_.stride});
    if (dx == nullptr) continue;
    part.next(WorkPart::products);
    multiply({count, floats, channels()}, dy, MatrixB::packed(back_.data(), channels()),
             {scratch.d_patches.data(), ld});
    part.next(WorkPart::embedding);
    add_patches(patches_, {scratch.d_patches.data(), ld}, first, count, dx);
  }
  const InPart part(WorkPart::weight_gradients);
  const std::size_t pixels = patches_.side * patches_.side;
  for (std::size_t row = 0; row < weight_.rows; ++row) {
    const float* from = scratch.d_weight.data() + row * weight_.stride;
    float* to = gradient + weight_.offset + row * weight_.stride;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      for (std::size_t c = 0; c < patches_.channels; ++c) to[c * pixels + pixel] += from[pixel * patches_.channels + c];
  }
}

}  // namespace eureka
