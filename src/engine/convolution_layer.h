// A convolution and the batch normalization behind it, in the fused engine. Activations are channels-last: a row of
// channels for every pixel, padded with zeros, sample after sample. Calls are about consecutive samples, of which each
// pointer is at the first; those that are const may come from several threads at once.
//
// Samples meet in the statistics of a batch. Groups of them add up their shares, each in a place of its own, and the
// shares are joined in the order of the groups.
#pragma once

#include <vector>

#include "engine/fused_network.h"
#include "engine/resnet_layout.h"
#include "kernels/convolution.h"

namespace eureka {

class ConvolutionLayer {
 public:
  ConvolutionLayer(const ConvolutionPlan& plan, const ImageShape& input, const FlatLayout& layout);

  // Memory of one thread, enough for every layer that it was made for.
  struct Scratch {
    explicit Scratch(const std::vector<ConvolutionLayer>& layers);
    static std::size_t bytes(const std::vector<ConvolutionLayer>& layers);
    Buffer patches, d_patches, dy, d_weight;
  };

  // Of its buffers, which it has after allocate().
  std::size_t bytes() const;
  void allocate();

  const std::string& name() const { return name_; }
  std::size_t channels() const { return weight_.rows; }
  std::size_t stride() const { return row_stride(channels()); }
  ImageShape output() const;
  std::size_t floats() const { return patches_.positions() * stride(); }  // of one sample's output
  std::size_t input_floats() const { return patches_.height * patches_.width * patches_.stride; }

  void take_weights(const float* values);
  void convolve(const float* x, std::size_t samples, float* y, Scratch& scratch) const;

  void add_statistics(std::size_t group, std::size_t samples, const float* y);
  // From the shares of so many groups; `learn`: the running statistics follow with learn_statistics().
  void join_statistics(std::size_t groups, std::size_t samples, bool learn);
  void learn_statistics();
  void use_running_statistics();
  void normalize(const float* y, std::size_t samples, const float* residual, bool rectified, float* out) const;

  // d: the gradient by what normalize() gave, set to zero where that, `rectified`, is zero; nullptr: it was not
  // rectified.
  void add_gradient_statistics(std::size_t group, std::size_t samples, const float* rectified, float* d,
                               const float* y);
  // Adds the gradients by gain and bias, too.
  void join_gradient_statistics(std::size_t groups, std::size_t samples, float* gradient);
  // Adds to the gradient by the weights and, unless nullptr, by x.
  void backward(const float* x, const float* y, const float* d, std::size_t samples, float* gradient, float* dx,
                Scratch& scratch) const;

  std::vector<float>& running_mean() { return running_mean_; }
  std::vector<float>& running_variance() { return running_variance_; }

 private:
  // Two sums per channel.
  struct Share {
    std::vector<double> first, second;
  };

  struct ScratchSize {
    std::size_t patches = 0, dy = 0, weight = 0;
  };
  static ScratchSize scratch_size(const std::vector<ConvolutionLayer>& layers);

  // A buffer and its size: one list serves both who makes them and who only counts.
  struct Memory {
    Buffer ConvolutionLayer::*buffer;
    std::size_t floats;
  };
  std::vector<Memory> memory() const;

  // How many patches are a matrix at once.
  std::size_t patches_at_once() const;
  // Joins the shares in the first and clears them all behind it.
  Share& join(std::size_t groups);
  void set_scale(std::size_t channel, double mean, double inverse_deviation);

  std::string name_;
  PatchShape patches_;
  Slot weight_, gain_, bias_;
  Buffer ordered_, forward_, back_;  // weights in the order of patches, and packed as factors of x W^T and of dy W
  const float* values_ = nullptr;
  std::vector<float> running_mean_, running_variance_;
  std::vector<float> next_mean_, next_variance_;  // what they become
  Share shares_[kMostGroups];
  std::vector<double> mean_, inverse_deviation_;
  Buffer scale_, shift_;                     // what the normalization does to a channel
  Buffer factor_, offset_, slope_, center_;  // and to its gradient
};

}  // namespace eureka
