// Attention by the kernels of the fused engine, and what rules they have: what the cures in PyTorch are tested against.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "arrays.h"
#include "base/suggest.h"
#include "bindings.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"
#include "rules.h"

namespace eureka::python {
namespace {

OptionValue value_of(const OptionInfo& info, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  throw Error(ErrorKind::config, fmt::format("the option '{}' is neither a number nor a text", info.name));
}

// Heads side by side in the row of a token, as the kernels have them.
class Tokens {
 public:
  Tokens(std::size_t samples, std::size_t heads, std::size_t tokens, std::size_t width)
      : samples_(samples),
        heads_(heads),
        tokens_(tokens),
        width_(width),
        stride_(round_up(heads * width)),
        buffer_(samples * tokens * stride_) {
    std::fill_n(buffer_.data(), buffer_.size(), 0.0F);
  }
  explicit Tokens(const Heads& from) : Tokens(from.shape(0), from.shape(1), from.shape(2), from.shape(3)) {
    each([&](std::size_t s, std::size_t h, std::size_t t, float* values) {
      std::copy_n(from.data() + ((s * heads_ + h) * tokens_ + t) * width_, width_, values);
    });
  }
  nb::ndarray<nb::numpy, float> array() {
    std::vector<float> all(samples_ * heads_ * tokens_ * width_);
    each([&](std::size_t s, std::size_t h, std::size_t t, const float* values) {
      std::copy_n(values, width_, all.data() + ((s * heads_ + h) * tokens_ + t) * width_);
    });
    return array_of(std::move(all), {samples_, heads_, tokens_, width_});
  }
  void normalize(const HeadNorm& norm, const Tokens& raw) {
    head_norm(norm, shape(), raw.buffer_.data(), stride_, nullptr, nullptr, buffer_.data(), stride_);
  }
  void pass_through(const HeadNorm& norm, const Tokens& raw) {
    head_norm_backward(norm, shape(), raw.buffer_.data(), stride_, nullptr, nullptr, buffer_.data(), stride_, nullptr,
                       nullptr);
  }
  MatrixA read() const { return {buffer_.data(), stride_}; }
  MatrixC write() { return {buffer_.data(), stride_}; }

 private:
  HeadNormShape shape() const { return {samples_ * tokens_, heads_, width_}; }
  template <class Visit>
  void each(const Visit& visit) {
    for (std::size_t s = 0; s < samples_; ++s)
      for (std::size_t h = 0; h < heads_; ++h)
        for (std::size_t t = 0; t < tokens_; ++t)
          visit(s, h, t, buffer_.data() + (s * tokens_ + t) * stride_ + h * width_);
  }

  std::size_t samples_, heads_, tokens_, width_, stride_;
  Buffer buffer_;
};

nb::tuple attend(const Heads& q, const Heads& k, const Heads& v, const Heads& d_out, const std::string& name,
                 const nb::dict& options, double multiple, bool causal,
                 const std::optional<nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>>& visible) {
  const FusedRule rule = rule_of(name, options);
  const AttentionShape shape{q.shape(0), q.shape(2), k.shape(2), q.shape(1), q.shape(3)};
  Tokens tokens_q(q), tokens_k(k), tokens_v(v), gradient(d_out);
  const Tokens raw_q(q), raw_k(k);
  if (rule.head_norm) {
    tokens_q.normalize(*rule.head_norm, raw_q);
    tokens_k.normalize(*rule.head_norm, raw_k);
  }
  Tokens out(shape.samples, shape.heads, shape.queries, shape.head_width),
      dq(shape.samples, shape.heads, shape.queries, shape.head_width);
  Tokens dk(shape.samples, shape.heads, shape.keys, shape.head_width),
      dv(shape.samples, shape.heads, shape.keys, shape.head_width);
  const std::vector<float> multiples(shape.heads, static_cast<float>(multiple) * rule.scale_factor);
  HeadRules rules{.row = rule.row,
                  .inverse_root_width = 1 / std::sqrt(static_cast<float>(shape.head_width)),
                  .multiples = multiples.data()};
  rules.mask.causal = causal;
  std::vector<float> shown;
  if (visible) {
    rules.mask.stride = shape.weight_stride();
    shown.resize(shape.samples * rules.mask.stride);
    for (std::size_t s = 0; s < shape.samples; ++s)
      std::copy_n(visible->data() + s * shape.keys, shape.keys, shown.data() + s * rules.mask.stride);
    rules.mask.visible = shown.data();
  }
  Buffer logits(shape.weight_floats()), weights(shape.weight_floats()), scratch(shape.scratch_floats());
  std::fill_n(logits.data(), logits.size(), 0.0F);
  std::fill_n(weights.data(), weights.size(), 0.0F);
  const AttentionKept kept{logits.data(), weights.data()};
  attention(shape, rules, tokens_q.read(), tokens_k.read(), tokens_v.read(), kept, out.write(), scratch.data());
  attention_backward(shape, rules, tokens_q.read(), tokens_k.read(), tokens_v.read(), kept, gradient.read(), dq.write(),
                     dk.write(), dv.write(), nullptr, scratch.data());
  if (rule.head_norm) {
    dq.pass_through(*rule.head_norm, raw_q);
    dk.pass_through(*rule.head_norm, raw_k);
  }
  return nb::make_tuple(out.array(), dq.array(), dk.array(), dv.array());
}

}  // namespace

FusedRule rule_of(const std::string& name, const nb::dict& options) {
  const FusedRuleInfo* info = find_fused_rule(name);
  if (info == nullptr) {
    std::vector<std::string> names;
    for (const FusedRuleInfo& one : fused_rules()) names.emplace_back(one.name);
    throw Error(ErrorKind::config, fmt::format("there is no attention rule '{}'", name), {}, did_you_mean(name, names));
  }
  OptionValues values = default_values(info->options);
  for (const auto& [key, value] : options) {
    const auto key_text = nb::cast<std::string>(key);
    const OptionInfo* found = find_option(info->options, key_text);
    if (found == nullptr)
      throw Error(ErrorKind::config, fmt::format("{} has no option '{}'", name, key_text), {},
                  did_you_mean(key_text, option_names(info->options)));
    values[key_text] = check_option(*found, value_of(*found, value), name + "." + key_text, {});
  }
  return make_fused_rule(name, values);
}

void bind_kernels(nb::module_& module) {
  module.def("attend", &attend, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("d_out"), nb::arg("rule"),
             nb::arg("options"), nb::arg("multiple"), nb::arg("causal"), nb::arg("visible").none());
  module.def("rules", [] {
    std::vector<std::string> names;
    for (const FusedRuleInfo& rule : fused_rules()) names.emplace_back(rule.name);
    return names;
  });
}

}  // namespace eureka::python
