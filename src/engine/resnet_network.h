// The residual convolutional networks in the fused engine. Their samples meet in batch normalization, so a training
// pass takes all groups of samples through one layer before the next begins.
#pragma once

#include <optional>

#include "engine/convolution_layer.h"

namespace eureka {

class ResNetNetwork final : public FusedNetwork {
 public:
  explicit ResNetNetwork(const EngineConfig& config);

  NetworkMemory memory(std::size_t samples, const ObservationRequest& look) const override;
  const char* how_to_shrink() const override { return "make model.width or train.batch smaller"; }
  void allocate() override;
  std::size_t groups(std::size_t samples) const override;
  void take_weights(const float* values, std::int64_t step) override;
  void pass(const BatchPass& pass, ThreadPool& pool, AnswerSink& sink) override;
  void look(const Look& look, ThreadPool& pool, AnswerSink& sink) override;
  std::vector<NetworkState> state() override;
  void learn_state() override;

 private:
  using Scratch = ConvolutionLayer::Scratch;

  // Numbers of layers.
  struct Block {
    std::size_t first, second;
    std::optional<std::size_t> shortcut;
  };

  // What stands between the layers, with room for some samples.
  struct Activations {
    std::size_t samples = 0;
    Buffer images, pooled;
    std::vector<Buffer> y, out;  // of each layer: before and behind its normalization; a shortcut has no `out`
    Buffer mean, d_mean, logits, d_logits;
  };

  // Some samples, and where they are.
  struct Place {
    Activations& in;
    std::size_t first, count;

    float* operator()(Buffer& buffer, std::size_t floats) const { return buffer.data() + first * floats; }
  };

  struct Training {
    const Batch& batch;
    float* const* gradients;  // of the groups
    bool learns;              // the running statistics
  };

  ResNetNetwork(const EngineConfig& config, const ResNetPlan& plan);

  // Of each buffer of the activations.
  std::vector<std::size_t> floats_per_sample() const;
  std::size_t activation_bytes(std::size_t samples) const;
  std::size_t largest_layer() const;
  bool is_shortcut(std::size_t layer) const;
  void reserve(Activations& activations, std::size_t samples) const;
  void reserve_training(std::size_t samples);

  // Samples of the batch from `first` on, with the running statistics.
  void forward(const Batch& batch, std::size_t first, const Place& place, Scratch& scratch) const;
  void read_images(const Batch& batch, std::size_t first, const Place& place) const;
  // What enters a block; behind the last one, the head. enter() makes it of what the layers before it gave.
  float* entering(std::size_t block, const Place& place) const;
  void enter(std::size_t block, const Place& place) const;
  void convolve(std::size_t layer, const float* x, const Place& place, Scratch& scratch) const;
  // The convolutions of a block that read what enters it, and the one behind them.
  void convolve_inputs(std::size_t block, const Place& place, Scratch& scratch) const;
  void convolve_inside(std::size_t block, const Place& place, Scratch& scratch) const;
  void answer(const Place& place) const;
  // d: the gradient by what enters the head.
  void answer_backward(const Place& place, float* gradient, float* d) const;
  float* y_of(std::size_t layer, const Place& place) const { return place(place.in.y[layer], layers_[layer].floats()); }
  float* out_of(std::size_t layer, const Place& place) const {
    return place(place.in.out[layer], layers_[layer].floats());
  }

  void train(const Training& training, ThreadPool& pool, AnswerSink& sink);
  void train_backward(const Training& training, ThreadPool& pool);
  void block_backward(std::size_t b, const Training& training, ThreadPool& pool, Buffer& behind, Buffer& before);
  void rectified_backward(std::size_t layer, Buffer& stream, std::optional<std::size_t> shortcut,
                          const Training& training, ThreadPool& pool);
  // work(place, group, scratch) for every group of samples.
  template <class Work>
  void each_group(const Training& training, ThreadPool& pool, const Work& work);
  static float* cleared(Buffer& buffer, std::size_t floats, const Place& place);

  std::vector<ConvolutionLayer> layers_;  // the stem, then those of the blocks
  std::vector<Block> blocks_;
  std::optional<PatchShape> pool_;
  ImageShape image_;
  std::size_t channels_, channel_stride_, positions_ = 0, classes_;  // of what enters the head
  Slot head_, head_bias_;
  std::size_t threads_;
  Buffer packed_head_, head_back_;
  const float* values_ = nullptr;
  std::vector<Scratch> scratch_;         // one per thread
  std::vector<Activations> evaluation_;  // one per thread
  std::size_t at_once_ = 1;              // samples of an evaluation
  Activations training_;
  Buffer streams_[2], inner_;  // gradients by what lies between blocks, and inside of one
};

}  // namespace eureka
