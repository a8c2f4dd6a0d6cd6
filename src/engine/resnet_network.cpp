#include "engine/resnet_network.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/work_part.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace eureka {
namespace {

ResNetPlan plan_of(const EngineConfig& config) {
  ResNetOptions options;
  assign(options, config.model_options);
  return plan_resnet(options, config.model == "resnet18" ? 2 : 1, config.shape);
}

PatchShape pooling_of(const ConvolutionLayer& stem) {
  const ImageShape image = stem.output();
  return {.height = static_cast<std::size_t>(image.height),
          .width = static_cast<std::size_t>(image.width),
          .channels = stem.channels(),
          .stride = stem.stride(),
          .side = 3,
          .step = 2};
}

}  // namespace

ResNetNetwork::ResNetNetwork(const EngineConfig& config) : ResNetNetwork(config, plan_of(config)) {}

ResNetNetwork::ResNetNetwork(const EngineConfig& config, const ResNetPlan& plan)
    : FusedNetwork(FlatLayout(resnet_parameters(plan)), config.shape),
      image_(config.shape.image),
      channels_(static_cast<std::size_t>(plan.channels)),
      channel_stride_(row_stride(channels_)),
      classes_(static_cast<std::size_t>(plan.classes)),
      head_(layout().find("head.weight")),
      head_bias_(layout().find("head.bias")),
      threads_(static_cast<std::size_t>(std::max(1, config.threads))) {
  const auto add = [&](const ConvolutionPlan& layer, const ImageShape& input) {
    layers_.emplace_back(layer, input, layout());
    return layers_.size() - 1;
  };
  add(plan.stem, image_);
  ImageShape now = layers_[0].output();
  if (plan.pools) {
    pool_ = pooling_of(layers_[0]);
    now = {static_cast<std::int64_t>(pool_->rows()), static_cast<std::int64_t>(pool_->columns()), now.channels};
  }
  for (const ResidualBlockPlan& block : plan.blocks) {
    Block& own = blocks_.emplace_back();
    own.first = add(block.first, now);
    own.second = add(block.second, layers_[own.first].output());
    if (block.shortcut) own.shortcut = add(*block.shortcut, now);
    now = layers_[own.second].output();
  }
  positions_ = static_cast<std::size_t>(now.height * now.width);

  // As many as fill the products of the smallest images, in moderate memory.
  constexpr std::size_t kFloats = std::size_t{1} << 22, kMost = 16;
  const std::vector<std::size_t> floats = floats_per_sample();
  at_once_ = std::clamp<std::size_t>(kFloats / std::accumulate(floats.begin(), floats.end(), std::size_t{0}), 1, kMost);
}

NetworkMemory ResNetNetwork::memory(std::size_t samples, const ObservationRequest&) const {
  NetworkMemory needs;
  needs.weights = Buffer::bytes(round_up(classes_) * channels_) + Buffer::bytes(classes_ * round_up(channels_));
  for (const ConvolutionLayer& layer : layers_) needs.weights += layer.bytes();
  needs.activations = threads_ * (Scratch::bytes(layers_) + activation_bytes(at_once_)) + activation_bytes(samples) +
                      3 * Buffer::bytes(samples * largest_layer());
  return needs;
}

void ResNetNetwork::allocate() {
  for (ConvolutionLayer& layer : layers_) layer.allocate();
  packed_head_ = Buffer(round_up(classes_) * channels_);
  head_back_ = Buffer(classes_ * round_up(channels_));
  for (std::size_t thread = 0; thread < threads_; ++thread) {
    scratch_.emplace_back(layers_);
    reserve(evaluation_.emplace_back(), at_once_);
  }
}

std::size_t ResNetNetwork::groups(std::size_t samples) const {
  return group_count(samples, static_cast<std::size_t>(image_.height * image_.width));
}

std::vector<std::size_t> ResNetNetwork::floats_per_sample() const {
  std::vector<std::size_t> floats = {layers_[0].input_floats(), channel_stride_, channel_stride_, class_stride(),
                                     class_stride()};
  if (pool_) floats.push_back(pool_->positions() * pool_->stride);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    floats.insert(floats.end(), is_shortcut(layer) ? 1 : 2, layers_[layer].floats());
  return floats;
}

std::size_t ResNetNetwork::activation_bytes(std::size_t samples) const {
  std::size_t total = 0;
  for (const std::size_t floats : floats_per_sample()) total += Buffer::bytes(samples * floats);
  return total;
}

bool ResNetNetwork::is_shortcut(std::size_t layer) const {
  return std::ranges::any_of(blocks_, [&](const Block& block) { return block.shortcut == layer; });
}

std::size_t ResNetNetwork::largest_layer() const {
  std::size_t most = 0;
  for (const ConvolutionLayer& layer : layers_) most = std::max(most, layer.floats());
  return most;
}

void ResNetNetwork::reserve(Activations& activations, std::size_t samples) const {
  if (samples <= activations.samples) return;
  activations = {};
  activations.samples = samples;
  activations.images = Buffer(samples * layers_[0].input_floats());
  if (pool_) activations.pooled = Buffer(samples * pool_->positions() * pool_->stride);
  for (const ConvolutionLayer& layer : layers_) activations.y.emplace_back(samples * layer.floats());
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    activations.out.push_back(is_shortcut(layer) ? Buffer() : Buffer(samples * layers_[layer].floats()));
  activations.mean = Buffer(samples * channel_stride_);
  activations.d_mean = Buffer(samples * channel_stride_);
  activations.logits = Buffer(samples * class_stride());
  activations.d_logits = Buffer(samples * class_stride());
}

void ResNetNetwork::take_weights(const float* values, std::int64_t) {
  values_ = values;
  for (ConvolutionLayer& layer : layers_) layer.take_weights(values);
  const float* head = values + head_.offset;
  pack_transposed(head, classes_, channels_, head_.stride, packed_head_.data());
  pack(head, classes_, channels_, head_.stride, 0, classes_, head_back_.data());
}

std::vector<NetworkState> ResNetNetwork::state() {
  std::vector<NetworkState> all;
  for (ConvolutionLayer& layer : layers_) {
    all.push_back({layer.name() + ".norm.running_mean", layer.running_mean()});
    all.push_back({layer.name() + ".norm.running_var", layer.running_variance()});
  }
  return all;
}

void ResNetNetwork::learn_state() {
  for (ConvolutionLayer& layer : layers_) layer.learn_statistics();
}

void ResNetNetwork::pass(const BatchPass& pass, ThreadPool& pool, AnswerSink& sink) {
  EUREKA_CHECK(pool.threads() <= scratch_.size(), "memory for every thread");
  if (!pass.gradients.empty()) {
    std::array<float*, kMostGroups> gradients{};
    for (std::size_t i = 0; i < pass.gradients.size(); ++i) gradients[i] = pass.gradients[i].data();
    return train({pass.batch, gradients.data(), true}, pool, sink);
  }
  for (ConvolutionLayer& layer : layers_) layer.use_running_statistics();
  const auto samples = static_cast<std::size_t>(pass.batch.samples);
  const std::size_t parts = (samples + at_once_ - 1) / at_once_;
  pool.run(parts, [&](std::size_t part, std::size_t thread) {
    const std::size_t first = part * at_once_;
    const Place place{evaluation_[thread], 0, std::min(at_once_, samples - first)};
    forward(pass.batch, first, place, scratch_[thread]);
    sink.take({first, place.count}, place.in.logits.data(), place.in.d_logits.data());
  });
}

void ResNetNetwork::look(const Look& look, ThreadPool&, AnswerSink& sink) {
  if (look.gradient == nullptr) return;
  std::array<float*, kMostGroups> gradients{};
  gradients.fill(look.gradient);
  ThreadPool alone(1);
  train({look.batch, gradients.data(), false}, alone, sink);
}

void ResNetNetwork::forward(const Batch& batch, std::size_t first, const Place& place, Scratch& scratch) const {
  read_images(batch, first, place);
  convolve(0, place(place.in.images, layers_[0].input_floats()), place, scratch);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    enter(b, place);
    convolve_inputs(b, place, scratch);
    convolve_inside(b, place, scratch);
  }
  enter(blocks_.size(), place);
  answer(place);
}

void ResNetNetwork::read_images(const Batch& batch, std::size_t first, const Place& place) const {
  const InPart part(WorkPart::embedding);
  const auto channels = static_cast<std::size_t>(image_.channels);
  const std::size_t pixels = static_cast<std::size_t>(image_.height * image_.width), stride = row_stride(channels);
  const float* from = batch.inputs.data() + first * pixels * channels;
  float* to = place(place.in.images, pixels * stride);
  for (std::size_t pixel = 0; pixel < place.count * pixels; ++pixel)
    std::copy_n(from + pixel * channels, channels, to + pixel * stride);
}

float* ResNetNetwork::entering(std::size_t block, const Place& place) const {
  if (block > 0) return out_of(blocks_[block - 1].second, place);
  return pool_ ? place(place.in.pooled, pool_->positions() * pool_->stride) : out_of(0, place);
}

void ResNetNetwork::enter(std::size_t block, const Place& place) const {
  if (block == 0) {
    layers_[0].normalize(y_of(0, place), place.count, nullptr, true, out_of(0, place));
    if (pool_) largest_of_patches(*pool_, out_of(0, place), place.count, entering(0, place));
    return;
  }
  const Block& before = blocks_[block - 1];
  float* out = out_of(before.second, place);
  const float* residual = entering(block - 1, place);
  if (before.shortcut) {
    layers_[*before.shortcut].normalize(y_of(*before.shortcut, place), place.count, nullptr, false, out);
    residual = out;
  }
  layers_[before.second].normalize(y_of(before.second, place), place.count, residual, true, out);
}

void ResNetNetwork::convolve(std::size_t layer, const float* x, const Place& place, Scratch& scratch) const {
  layers_[layer].convolve(x, place.count, y_of(layer, place), scratch);
}

void ResNetNetwork::convolve_inputs(std::size_t block, const Place& place, Scratch& scratch) const {
  const float* x = entering(block, place);
  convolve(blocks_[block].first, x, place, scratch);
  if (blocks_[block].shortcut) convolve(*blocks_[block].shortcut, x, place, scratch);
}

void ResNetNetwork::convolve_inside(std::size_t block, const Place& place, Scratch& scratch) const {
  const std::size_t first = blocks_[block].first;
  layers_[first].normalize(y_of(first, place), place.count, nullptr, true, out_of(first, place));
  convolve(blocks_[block].second, out_of(first, place), place, scratch);
}

void ResNetNetwork::answer(const Place& place) const {
  const InPart part(WorkPart::products);
  const float* x = entering(blocks_.size(), place);
  float* mean = place(place.in.mean, channel_stride_);
  const float share = 1.0F / static_cast<float>(positions_);
  for (std::size_t s = 0; s < place.count; ++s) {
    float* row = mean + s * channel_stride_;
    std::fill_n(row, channel_stride_, 0.0F);
    add_column_sums(x + s * positions_ * channel_stride_, positions_, channels_, channel_stride_, row);
    for (std::size_t c = 0; c < channels_; ++c) row[c] *= share;
  }
  multiply_add_bias({place.count, classes_, channels_}, {mean, channel_stride_},
                    MatrixB::packed(packed_head_.data(), channels_), values_ + head_bias_.offset,
                    {place(place.in.logits, class_stride()), class_stride()});
}

void ResNetNetwork::answer_backward(const Place& place, float* gradient, float* d) const {
  InPart part(WorkPart::weight_gradients);
  const MatrixA d_logits{place(place.in.d_logits, class_stride()), class_stride()};
  const float* mean = place(place.in.mean, channel_stride_);
  float* d_mean = place(place.in.d_mean, channel_stride_);
  multiply_transposed_accumulate({classes_, channels_, place.count}, d_logits, MatrixB::plain(mean, channel_stride_),
                                 {gradient + head_.offset, head_.stride});
  add_column_sums(d_logits.data, place.count, classes_, class_stride(), gradient + head_bias_.offset);
  part.next(WorkPart::products);
  multiply({place.count, channels_, classes_}, d_logits, MatrixB::packed(head_back_.data(), classes_),
           {d_mean, channel_stride_});
  const float share = 1.0F / static_cast<float>(positions_);
  for (std::size_t s = 0; s < place.count; ++s) {
    float* row = d_mean + s * channel_stride_;
    for (std::size_t c = 0; c < channels_; ++c) row[c] *= share;
    for (std::size_t position = 0; position < positions_; ++position)
      std::copy_n(row, channel_stride_, d + (s * positions_ + position) * channel_stride_);
  }
}

}  // namespace eureka
