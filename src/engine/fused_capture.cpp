#include "engine/fused_capture.h"

#include <cstring>

namespace eureka {

PassCapture::PassCapture(const FusedModel& model, std::size_t samples) : model_(model) {
  const FusedModel& m = model;
  const AttentionShape shape{m.microbatch, m.tokens, m.tokens, m.heads, m.head_width};
  d_weights_ = Buffer(shape.weight_floats());
  d_logits_ = Buffer(shape.weight_floats());
  const auto tensor = [](std::initializer_list<std::size_t> sizes) {
    ObservedTensor result;
    std::size_t floats = 1;
    for (const std::size_t size : sizes) {
      result.shape.push_back(static_cast<std::int64_t>(size));
      floats *= size;
    }
    result.values.resize(floats);
    result.gradient.resize(floats);
    return result;
  };
  for (int layer = 0; layer < m.options.depth; ++layer) {
    ObservedBlock block;
    for (ObservedTensor* one : {&block.q, &block.k, &block.v, &block.head_output})
      *one = tensor({samples, m.heads, m.tokens, m.head_width});
    for (ObservedTensor* one : {&block.logits, &block.weights}) *one = tensor({samples, m.heads, m.tokens, m.tokens});
    block.residual = tensor({samples, m.tokens, m.width});
    result_.blocks.push_back(std::move(block));
  }
  result_.residual = tensor({samples, m.tokens, m.width});
}

void PassCapture::attention(int layer, const Attention& seen) {
  ObservedBlock& block = result_.blocks[static_cast<std::size_t>(layer)];
  copy_heads(seen.q, block.q.values);
  copy_heads(seen.dq, block.q.gradient);
  copy_heads(seen.k, block.k.values);
  copy_heads(seen.dk, block.k.gradient);
  copy_heads(seen.v, block.v.values);
  copy_heads(seen.dv, block.v.gradient);
  copy_heads(seen.head_output, block.head_output.values);
  copy_heads(seen.d_head_output, block.head_output.gradient);
  copy_weights(seen.logits, block.logits.values);
  copy_weights(d_logits_.data(), block.logits.gradient);
  copy_weights(seen.weights, block.weights.values);
  copy_weights(d_weights_.data(), block.weights.gradient);
}

void PassCapture::residual(int layer, const float* x, const float* dx) {
  ObservedTensor& to =
      layer == model_.options.depth ? result_.residual : result_.blocks[static_cast<std::size_t>(layer)].residual;
  copy_tokens(x, to.values);
  copy_tokens(dx, to.gradient);
}

void PassCapture::copy_heads(MatrixA from, std::vector<float>& to) const {
  const std::size_t tokens = model_.tokens, heads = model_.heads, width = model_.head_width;
  for (std::size_t s = 0; s < samples_.count; ++s)
    for (std::size_t head = 0; head < heads; ++head)
      for (std::size_t token = 0; token < tokens; ++token)
        std::memcpy(to.data() + (((samples_.first + s) * heads + head) * tokens + token) * width,
                    from.data + (s * tokens + token) * from.stride + head * width, width * sizeof(float));
}

void PassCapture::copy_weights(const float* from, std::vector<float>& to) const {
  const std::size_t tokens = model_.tokens, rows = samples_.count * model_.heads * tokens;
  float* first = to.data() + samples_.first * model_.heads * tokens * tokens;
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(first + row * tokens, from + row * round_up(tokens), tokens * sizeof(float));
}

void PassCapture::copy_tokens(const float* from, std::vector<float>& to) const {
  const std::size_t rows = samples_.count * model_.tokens;
  float* first = to.data() + samples_.first * model_.tokens * model_.width;
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(first + row * model_.width, from + row * model_.stride, model_.width * sizeof(float));
}

}  // namespace eureka
