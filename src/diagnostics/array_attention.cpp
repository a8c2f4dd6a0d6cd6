#include "diagnostics/array_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "diagnostics/array_row.h"
#include "kernels/gemm.h"
#include "kernels/head_norm.h"

namespace eureka {
namespace {

constexpr const char* kDiagnostics[] = {"attention", "jacobian", "attenuation"};

struct Sizes {
  std::int64_t samples, heads, queries, keys, width, value_width;
};

std::string shape_text(const TensorView& tensor) {
  return fmt::format("{} x {} x {} x {}", tensor.sizes[0], tensor.sizes[1], tensor.sizes[2], tensor.sizes[3]);
}

Sizes sizes_of(const ArrayAttention& given) {
  const auto &q = given.q.sizes, &k = given.k.sizes, &v = given.v.sizes;
  const Sizes sizes{q[0], q[1], q[2], k[2], q[3], v[3]};
  const auto refuse = [&](const char* what) {
    throw Error(
        ErrorKind::input,
        fmt::format("{}: q is {}, k {}, v {}", what, shape_text(given.q), shape_text(given.k), shape_text(given.v)), {},
        "arrays are samples x heads x tokens x width");
  };
  if (*std::min_element(q.begin(), q.end()) < 1 || *std::min_element(k.begin(), k.end()) < 1 || v[3] < 1)
    refuse("there is nothing to look at");
  if (k[0] != q[0] || v[0] != q[0]) refuse("q, k and v differ in samples");
  if (k[3] != q[3]) refuse("queries and keys differ in width");
  if (v[2] != k[2]) refuse("there is not one value for each key");
  if (k[1] != v[1] || q[1] % k[1] != 0) refuse("the heads of queries are no multiple of those of keys and values");
  if (given.d_out.exists() && given.d_out.sizes != std::array{q[0], q[1], q[2], v[3]})
    throw Error(ErrorKind::input, fmt::format("d_out is {}, what attention gives {} x {} x {} x {}",
                                              shape_text(given.d_out), q[0], q[1], q[2], v[3]));
  if (given.scale.size() != static_cast<std::size_t>(q[1]))
    throw Error(ErrorKind::input, fmt::format("{} scales for {} heads", given.scale.size(), q[1]));
  return sizes;
}

// samples x heads x rows x columns numbers, rows padded as the products need them.
class Heads {
 public:
  Heads() = default;
  Heads(std::int64_t samples, std::int64_t heads, std::int64_t rows, std::int64_t columns)
      : sizes_{samples, heads, rows, columns},
        stride_(round_up(static_cast<std::size_t>(columns))),
        buffer_(static_cast<std::size_t>(samples * heads * rows) * stride_) {
    std::fill_n(buffer_.data(), buffer_.size(), 0.0F);
  }
  // `heads` of them, neighbors sharing where there are fewer.
  Heads(const TensorView& from, std::int64_t heads) : Heads(from.sizes[0], heads, from.sizes[2], from.sizes[3]) {
    const std::int64_t sharing = heads / from.sizes[1];
    for (std::int64_t s = 0; s < sizes_[0]; ++s)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t row = 0; row < sizes_[2]; ++row)
          std::copy_n(from.row(s, h / sharing, row), sizes_[3], this->row(s, h, row));
  }

  float* row(std::int64_t s, std::int64_t h, std::int64_t row) {
    return buffer_.data() + static_cast<std::size_t>((s * sizes_[1] + h) * sizes_[2] + row) * stride_;
  }
  std::size_t stride() const { return stride_; }
  MatrixA left(std::int64_t s, std::int64_t h) { return {row(s, h, 0), stride_}; }
  MatrixB right(std::int64_t s, std::int64_t h) { return MatrixB::plain(row(s, h, 0), stride_); }
  MatrixC result(std::int64_t s, std::int64_t h) { return {row(s, h, 0), stride_}; }

  TensorView view() {
    const auto stride = static_cast<std::int64_t>(stride_);
    return {buffer_.data(), sizes_, {sizes_[1] * sizes_[2] * stride, sizes_[2] * stride, stride}};
  }
  TensorView view_of(std::int64_t head) {
    TensorView one = view();
    one.data += head * one.strides[1];
    one.sizes[1] = 1;
    return one;
  }
  std::vector<float> plain(const std::vector<float>& over = {}) {
    std::vector<float> all;
    all.reserve(static_cast<std::size_t>(sizes_[0] * sizes_[1] * sizes_[2] * sizes_[3]));
    for (std::int64_t s = 0; s < sizes_[0]; ++s)
      for (std::int64_t h = 0; h < sizes_[1]; ++h)
        for (std::int64_t r = 0; r < sizes_[2]; ++r)
          for (std::int64_t i = 0; i < sizes_[3]; ++i)
            all.push_back(over.empty() ? row(s, h, r)[i] : row(s, h, r)[i] / over[static_cast<std::size_t>(h)]);
    return all;
  }

 private:
  std::array<std::int64_t, 4> sizes_{};
  std::size_t stride_ = 0;
  Buffer buffer_;
};

// Everything diagnostics may ask for, worked out once.
class Worked {
 public:
  Worked(const ArrayAttention& given, const FusedRule& rule)
      : given_(given), rule_(rule), sizes_(sizes_of(given)), has_gradient_(given.d_out.exists()) {
    const auto& [samples, heads, queries, keys, width, value_width] = sizes_;
    q_ = Heads(given.q, heads);
    k_ = Heads(given.k, heads);
    v_ = Heads(given.v, heads);
    if (rule.head_norm) normalize();
    logits_ = Heads(samples, heads, queries, keys);
    weights_ = Heads(samples, heads, queries, keys);
    out_ = Heads(samples, heads, queries, value_width);
    if (has_gradient_) {
      d_out_ = Heads(given.d_out, heads);
      d_weights_ = Heads(samples, heads, queries, keys);
      d_logits_ = Heads(samples, heads, queries, keys);
      d_q_ = Heads(samples, heads, queries, width);
      d_k_ = Heads(samples, heads, keys, width);
      d_v_ = Heads(samples, heads, keys, value_width);
    }
    find_visible();
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t h = 0; h < heads; ++h) work_out(s, h);
    if (has_gradient_ && rule.head_norm) pass_through_norm();
  }

  NamedNumbers numbers(int layer) {
    NamedNumbers all;
    for (const char* name : kDiagnostics) {
      NumberRow row(name, all);
      if (heads_see_alike_)
        see(name, layer, 0, sizes_.heads)->report(row);
      else
        report_by_head(name, layer, row);
    }
    return all;
  }

  ArrayTensors tensors() {
    ArrayTensors t{.weights = weights_.plain(), .out = out_.plain()};
    if (!has_gradient_) return t;
    t.d_weights = d_weights_.plain();
    t.d_scaled_logits = d_logits_.plain(given_.scale);
    t.d_q = rule_.head_norm ? d_q_raw_.plain() : d_q_.plain();
    t.d_k = rule_.head_norm ? d_k_raw_.plain() : d_k_.plain();
    t.d_v = d_v_.plain();
    return t;
  }

 private:
  HeadNormShape norm_shape(std::int64_t tokens) const {
    return {static_cast<std::size_t>(sizes_.samples * sizes_.heads * tokens), 1,
            static_cast<std::size_t>(sizes_.width)};
  }

  void normalize() {
    q_raw_ = Heads(given_.q, sizes_.heads);
    k_raw_ = Heads(given_.k, sizes_.heads);
    const auto norm = [&](Heads& from, Heads& to, std::int64_t tokens) {
      head_norm(*rule_.head_norm, norm_shape(tokens), from.row(0, 0, 0), from.stride(), nullptr, nullptr,
                to.row(0, 0, 0), to.stride());
    };
    norm(q_raw_, q_, sizes_.queries);
    norm(k_raw_, k_, sizes_.keys);
  }

  void pass_through_norm() {
    const auto pass = [&](Heads& raw, Heads& gradient, Heads& to, std::int64_t tokens) {
      to = Heads(gradient.view(), sizes_.heads);
      head_norm_backward(*rule_.head_norm, norm_shape(tokens), raw.row(0, 0, 0), raw.stride(), nullptr, nullptr,
                         to.row(0, 0, 0), to.stride(), nullptr, nullptr);
    };
    pass(q_raw_, d_q_, d_q_raw_, sizes_.queries);
    pass(k_raw_, d_k_, d_k_raw_, sizes_.keys);
  }

  bool sees(std::int64_t s, std::int64_t h, std::int64_t query, std::int64_t key) const {
    if (given_.causal && key > query) return false;
    if (given_.visible.exists() && given_.visible.at(s, h, query, key) == 0) return false;
    return !given_.bias.exists() || given_.bias.at(s, h, query, key) > kHiddenBias;
  }

  // Diagnostics know one mask for all heads; where heads differ, each is shown by itself.
  void find_visible() {
    const auto per_head = static_cast<std::size_t>(sizes_.samples * sizes_.queries * sizes_.keys);
    visible_.resize(per_head * static_cast<std::size_t>(sizes_.heads));
    std::uint8_t* next = visible_.data();
    for (std::int64_t h = 0; h < sizes_.heads; ++h)
      for (std::int64_t s = 0; s < sizes_.samples; ++s)
        for (std::int64_t query = 0; query < sizes_.queries; ++query)
          for (std::int64_t key = 0; key < sizes_.keys; ++key) *next++ = sees(s, h, query, key) ? 1 : 0;
    for (std::int64_t h = 1; h < sizes_.heads; ++h)
      if (!std::equal(visible_of(h), visible_of(h) + per_head, visible_of(0))) heads_see_alike_ = false;
  }
  const std::uint8_t* visible_of(std::int64_t head) const {
    return visible_.data() + head * sizes_.samples * sizes_.queries * sizes_.keys;
  }

  void work_out(std::int64_t s, std::int64_t h) {
    const auto queries = static_cast<std::size_t>(sizes_.queries), keys = static_cast<std::size_t>(sizes_.keys),
               width = static_cast<std::size_t>(sizes_.width),
               value_width = static_cast<std::size_t>(sizes_.value_width);
    packed_.resize(std::max(width, value_width) * round_up(keys));
    pack_transposed(k_.row(s, h, 0), keys, width, k_.stride(), packed_.data());
    multiply({queries, keys, width}, q_.left(s, h), MatrixB::packed(packed_.data(), width), logits_.result(s, h));
    if (has_gradient_) {
      pack_transposed(v_.row(s, h, 0), keys, value_width, v_.stride(), packed_.data());
      multiply({queries, keys, value_width}, d_out_.left(s, h), MatrixB::packed(packed_.data(), value_width),
               d_weights_.result(s, h));
    }
    for (std::int64_t query = 0; query < sizes_.queries; ++query) work_out_row(s, h, query);
    multiply({queries, value_width, keys}, weights_.left(s, h), v_.right(s, h), out_.result(s, h));
    if (!has_gradient_) return;
    multiply({queries, width, keys}, d_logits_.left(s, h), k_.right(s, h), d_q_.result(s, h));
    multiply_transposed_accumulate({keys, width, queries}, d_logits_.left(s, h), q_.right(s, h), d_k_.result(s, h));
    multiply_transposed_accumulate({keys, value_width, queries}, weights_.left(s, h), d_out_.right(s, h),
                                   d_v_.result(s, h));
  }

  void work_out_row(std::int64_t s, std::int64_t h, std::int64_t query) {
    const std::uint8_t* seen = visible_of(h) + (s * sizes_.queries + query) * sizes_.keys;
    const auto scale = static_cast<double>(given_.scale[static_cast<std::size_t>(h)]);
    float* logits = logits_.row(s, h, query);
    row_.logits.clear();
    for (std::int64_t key = 0; key < sizes_.keys; ++key) {
      if (seen[key] == 0) continue;
      // What is added to the scaled logits is part of what the rule sees.
      if (given_.bias.exists())
        logits[key] = static_cast<float>(static_cast<double>(logits[key]) +
                                         static_cast<double>(given_.bias.at(s, h, query, key)) / scale);
      row_.logits.push_back(static_cast<double>(logits[key]));
    }
    if (row_.logits.empty()) return;
    row_.work_out(rule_, scale, static_cast<double>(sizes_.width));
    float* weights = weights_.row(s, h, query);
    for (std::int64_t key = 0, i = 0; key < sizes_.keys; ++key)
      if (seen[key] != 0) weights[key] = static_cast<float>(row_.weights[static_cast<std::size_t>(i++)]);
    if (!has_gradient_) return;
    float *d_weights = d_weights_.row(s, h, query), *d_logits = d_logits_.row(s, h, query);
    row_.d_weights.clear();
    for (std::int64_t key = 0; key < sizes_.keys; ++key) {
      if (seen[key] != 0) row_.d_weights.push_back(static_cast<double>(d_weights[key]));
      if (seen[key] == 0) d_weights[key] = 0;
    }
    row_.pass_back(rule_);
    for (std::int64_t key = 0, i = 0; key < sizes_.keys; ++key)
      if (seen[key] != 0) d_logits[key] = static_cast<float>(row_.d_logits[static_cast<std::size_t>(i++)]);
  }

  std::unique_ptr<Diagnostic> see(const char* name, int layer, std::int64_t first_head, std::int64_t heads) {
    auto diagnostic = Registry<Diagnostic>::instance().make(name);
    const std::vector<float> strength(static_cast<std::size_t>(heads), rule_.scale_factor);
    ObservationView view{.layer = layer, .samples = sizes_.samples};
    const auto show = [&](auto& places, Point point, Heads& all) {
      places[static_cast<std::size_t>(point)] = heads == 1 ? all.view_of(first_head) : all.view();
    };
    show(view.values, Point::q, q_);
    show(view.values, Point::k, k_);
    show(view.values, Point::v, v_);
    show(view.values, Point::logits, logits_);
    show(view.values, Point::weights, weights_);
    if (has_gradient_) {
      show(view.gradients, Point::q, d_q_);
      show(view.gradients, Point::k, d_k_);
      show(view.gradients, Point::v, d_v_);
      show(view.gradients, Point::logits, d_logits_);
      show(view.gradients, Point::weights, d_weights_);
      if (rule_.head_norm) {
        show(view.gradients, Point::q_raw, d_q_raw_);
        show(view.gradients, Point::k_raw, d_k_raw_);
      }
    }
    view.mask = {visible_of(first_head), sizes_.queries * sizes_.keys, sizes_.keys};
    view.scale = std::span(given_.scale).subspan(static_cast<std::size_t>(first_head), static_cast<std::size_t>(heads));
    view.inverse_root_width = 1 / std::sqrt(static_cast<float>(sizes_.width));
    view.rule = &rule_;
    view.strength = strength;
    diagnostic->see(view);
    return diagnostic;
  }

  // "attention/entropy/layer3/head0" of each head, put together as one diagnostic would say it of all.
  void report_by_head(const char* name, int layer, NumberRow& row) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<double>> values;
    const std::string end = fmt::format("/layer{}/head0", layer), start = std::string(name) + "/";
    for (std::int64_t head = 0; head < sizes_.heads; ++head) {
      NamedNumbers one;
      NumberRow row_of_one(name, one);
      see(name, layer, head, 1)->report(row_of_one);
      for (const auto& [number, value] : one) {
        if (!number.ends_with(end)) continue;
        const std::string key = number.substr(start.size(), number.size() - start.size() - end.size());
        if (head == 0) order.push_back(key);
        auto& of_heads = values[key];
        of_heads.resize(static_cast<std::size_t>(sizes_.heads), std::nan(""));
        of_heads[static_cast<std::size_t>(head)] = value;
      }
    }
    for (const std::string& key : order) row.add_heads(key, layer, values[key]);
  }

  const ArrayAttention& given_;
  const FusedRule& rule_;
  Sizes sizes_;
  bool has_gradient_, heads_see_alike_ = true;
  Heads q_, k_, v_, q_raw_, k_raw_, logits_, weights_, out_;
  Heads d_out_, d_weights_, d_logits_, d_q_, d_k_, d_v_, d_q_raw_, d_k_raw_;
  std::vector<std::uint8_t> visible_;  // heads x samples x queries x keys
  std::vector<float> packed_;
  ArrayRow row_;
};

}  // namespace

ArrayLook look_at_arrays(const ArrayAttention& given, const FusedRule& rule, int layer) {
  if (rule.form() == RowForm::other)
    throw Error(
        ErrorKind::input, "the weights of this rule are no known function of a row of logits", {},
        "look at softmax, norm_softmax, spread_softmax, qk_norm, scalable_softmax, softmax_one, sigmoid or entmax15");
  Worked worked(given, rule);
  return {worked.numbers(layer), worked.tensors()};
}

}  // namespace eureka
