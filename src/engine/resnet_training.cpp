// The training pass: layer by layer, since samples meet in the statistics of each.
#include <cstring>

#include "engine/resnet_network.h"

namespace eureka {

template <class Work>
void ResNetNetwork::each_group(const Training& training, ThreadPool& pool, const Work& work) {
  const auto samples = static_cast<std::size_t>(training.batch.samples);
  const std::size_t count = groups(samples);
  pool.run(count, [&](std::size_t group, std::size_t thread) {
    const std::size_t first = samples * group / count, last = samples * (group + 1) / count;
    work(Place{training_, first, last - first}, group, scratch_[thread]);
  });
}

void ResNetNetwork::reserve_training(std::size_t samples) {
  if (samples <= training_.samples) return;
  reserve(training_, samples);
  for (Buffer* buffer : {&streams_[0], &streams_[1], &inner_}) *buffer = Buffer(samples * largest_layer());
}

void ResNetNetwork::train(const Training& training, ThreadPool& pool, AnswerSink& sink) {
  const auto samples = static_cast<std::size_t>(training.batch.samples);
  reserve_training(samples);
  const auto convolved = [&](std::size_t layer, const Place& place, std::size_t group) {
    layers_[layer].add_statistics(group, place.count, y_of(layer, place));
  };
  const auto join = [&](std::size_t layer) {
    layers_[layer].join_statistics(groups(samples), samples, training.learns);
  };
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
    read_images(training.batch, place.first, place);
    convolve(0, place(training_.images, layers_[0].input_floats()), place, scratch);
    convolved(0, place, group);
  });
  join(0);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
      enter(b, place);
      convolve_inputs(b, place, scratch);
      convolved(block.first, place, group);
      if (block.shortcut) convolved(*block.shortcut, place, group);
    });
    join(block.first);
    if (block.shortcut) join(*block.shortcut);
    each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
      convolve_inside(b, place, scratch);
      convolved(block.second, place, group);
    });
    join(block.second);
  }
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch&) {
    enter(blocks_.size(), place);
    answer(place);
    sink.take({place.first, place.count}, place(training_.logits, class_stride()),
              place(training_.d_logits, class_stride()));
    answer_backward(place, training.gradients[group], place(streams_[0], positions_ * channel_stride_));
  });
  train_backward(training, pool);
}

void ResNetNetwork::train_backward(const Training& training, ThreadPool& pool) {
  std::size_t at = 0;  // the stream that holds the gradient by what leaves a block
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    // Where the shortcut changes nothing, the gradient by what enters is added to it.
    const std::size_t behind = at;
    if (blocks_[b].shortcut) at = 1 - at;
    block_backward(b, training, pool, streams_[behind], streams_[at]);
  }
  if (pool_) {
    each_group(training, pool, [&](const Place& place, std::size_t, Scratch&) {
      largest_of_patches_backward(*pool_, out_of(0, place), place.count,
                                  place(streams_[at], pool_->positions() * pool_->stride),
                                  cleared(streams_[1 - at], layers_[0].floats(), place));
    });
    at = 1 - at;
  }
  rectified_backward(0, streams_[at], {}, training, pool);
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
    layers_[0].backward(place(training_.images, layers_[0].input_floats()), y_of(0, place),
                        place(streams_[at], layers_[0].floats()), place.count, training.gradients[group], nullptr,
                        scratch);
  });
}

// The gradient by the result of `layer`, and of a shortcut that was added to it, becomes that before rectification.
void ResNetNetwork::rectified_backward(std::size_t layer, Buffer& stream, std::optional<std::size_t> shortcut,
                                       const Training& training, ThreadPool& pool) {
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch&) {
    float* d = place(stream, layers_[layer].floats());
    layers_[layer].add_gradient_statistics(group, place.count, out_of(layer, place), d, y_of(layer, place));
    if (shortcut) layers_[*shortcut].add_gradient_statistics(group, place.count, nullptr, d, y_of(*shortcut, place));
  });
  const auto samples = static_cast<std::size_t>(training.batch.samples);
  layers_[layer].join_gradient_statistics(groups(samples), samples, training.gradients[0]);
  if (shortcut) layers_[*shortcut].join_gradient_statistics(groups(samples), samples, training.gradients[0]);
}

void ResNetNetwork::block_backward(std::size_t b, const Training& training, ThreadPool& pool, Buffer& behind,
                                   Buffer& before) {
  const Block& block = blocks_[b];
  const ConvolutionLayer &first = layers_[block.first], &second = layers_[block.second];
  rectified_backward(block.second, behind, block.shortcut, training, pool);
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
    const float* d = place(behind, second.floats());
    second.backward(out_of(block.first, place), y_of(block.second, place), d, place.count, training.gradients[group],
                    cleared(inner_, first.floats(), place), scratch);
    if (block.shortcut)
      layers_[*block.shortcut].backward(entering(b, place), y_of(*block.shortcut, place), d, place.count,
                                        training.gradients[group], cleared(before, first.input_floats(), place),
                                        scratch);
  });
  rectified_backward(block.first, inner_, {}, training, pool);
  each_group(training, pool, [&](const Place& place, std::size_t group, Scratch& scratch) {
    first.backward(entering(b, place), y_of(block.first, place), place(inner_, first.floats()), place.count,
                   training.gradients[group], place(before, first.input_floats()), scratch);
  });
}

float* ResNetNetwork::cleared(Buffer& buffer, std::size_t floats, const Place& place) {
  float* values = place(buffer, floats);
  std::memset(values, 0, place.count * floats * sizeof(float));
  return values;
}

}  // namespace eureka
