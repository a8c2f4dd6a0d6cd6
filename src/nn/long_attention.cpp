#include "nn/long_attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"

namespace eureka {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Queries that are taken at a time.
constexpr std::int64_t kChunk = 128;

// Calls for each chunk: its first query, how many they are, how many keys they see.
template <class Use>
void for_chunks(const at::Tensor& q, const at::Tensor& k, bool causal, const Use& use) {
  for (std::int64_t first = 0; first < q.size(-2); first += kChunk) {
    const std::int64_t rows = std::min(kChunk, q.size(-2) - first);
    use(first, rows, causal ? first + rows : k.size(-2));
  }
}

at::Tensor rows_of(const at::Tensor& x, std::int64_t first, std::int64_t rows) { return x.narrow(-2, first, rows); }

// One place for the matrices of all chunks: memory that is taken and given back for each leaves holes too small for the
// next.
class Scratch {
 public:
  Scratch(const at::Tensor& q, const at::Tensor& k)
      : flat_(at::empty({q.size(0) * std::min(kChunk, q.size(1)) * k.size(1)}, q.options())) {}
  at::Tensor matrices(const at::Tensor& queries, const at::Tensor& keys) const {
    const std::int64_t count = queries.size(0), rows = queries.size(1), columns = keys.size(1);
    return flat_.narrow(0, 0, count * rows * columns).view({count, rows, columns});
  }

 private:
  at::Tensor flat_;
};

// What one chunk has: queries, the keys they see, and their matrices.
struct Chunk {
  at::Tensor queries, keys, logits, weights;

  void weigh(bool causal) {
    at::bmm_out(logits, queries, keys.transpose(1, 2));
    if (causal) {
      const std::int64_t rows = queries.size(1);
      const at::Tensor later = at::ones({rows, rows}, logits.options().dtype(at::kBool)).triu(1);
      logits.narrow(2, keys.size(1) - rows, rows).masked_fill_(later, -std::numeric_limits<double>::infinity());
    }
    at::_softmax_out(weights, logits, -1, /*half_to_float=*/false);
  }
};

// Of matrices, each heads x tokens x width. The weights of a chunk are there only while it is worked on; the backward
// pass computes them again.
class ChunkedSoftmax : public torch::autograd::Function<ChunkedSoftmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            bool causal) {
    context->save_for_backward({q, k, v});
    context->saved_data["causal"] = causal;
    at::Tensor out = at::empty({q.size(0), q.size(1), v.size(2)}, q.options());
    const Scratch logits(q, k), weights(q, k);
    for_chunks(q, k, causal, [&](std::int64_t first, std::int64_t rows, std::int64_t seen) {
      const at::Tensor queries = rows_of(q, first, rows), keys = rows_of(k, 0, seen);
      Chunk chunk{queries, keys, logits.matrices(queries, keys), weights.matrices(queries, keys)};
      chunk.weigh(causal);
      rows_of(out, first, rows).copy_(at::bmm(chunk.weights, rows_of(v, 0, seen)));
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& by_output) {
    EUREKA_CHECK(!at::GradMode::is_enabled(), "attention in chunks is differentiable once");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    const bool causal = context->saved_data["causal"].toBool();
    at::Tensor by_q = at::empty_like(q), by_k = at::zeros_like(k), by_v = at::zeros_like(v);
    const Scratch logits(q, k), weights(q, k), gradients(q, k);
    for_chunks(q, k, causal, [&](std::int64_t first, std::int64_t rows, std::int64_t seen) {
      const at::Tensor queries = rows_of(q, first, rows), keys = rows_of(k, 0, seen);
      const at::Tensor by_rows = rows_of(by_output[0], first, rows);
      Chunk chunk{queries, keys, logits.matrices(queries, keys), weights.matrices(queries, keys)};
      chunk.weigh(causal);
      rows_of(by_v, 0, seen).baddbmm_(chunk.weights.transpose(1, 2), by_rows);
      at::Tensor by_weights = gradients.matrices(queries, keys);
      at::bmm_out(by_weights, by_rows, rows_of(v, 0, seen).transpose(1, 2));
      at::_softmax_backward_data_out(chunk.logits, by_weights, chunk.weights, -1, q.scalar_type());
      rows_of(by_q, first, rows).copy_(at::bmm(chunk.logits, keys));
      rows_of(by_k, 0, seen).baddbmm_(chunk.logits.transpose(1, 2), queries);
    });
    return {by_q, by_k, by_v, at::Tensor()};
  }
};

at::Tensor total(const at::Tensor& x) { return x.sum(-1, /*keepdim=*/true); }

// Scatter matrix and mean of the keys so far.
struct Past {
  at::Tensor scatter, mean;
  std::int64_t count = 0;

  void add(const at::Tensor& keys) {
    const std::int64_t size = keys.size(-2), both = count + size;
    const at::Tensor own_mean = keys.mean(-2, /*keepdim=*/true), centered = keys - own_mean;
    const at::Tensor own = at::matmul(centered.transpose(-2, -1), centered);
    if (count == 0) {
      scatter = own;
      mean = own_mean;
    } else {
      const at::Tensor step = own_mean - mean;
      const double share = static_cast<double>(size) / static_cast<double>(both);
      scatter = scatter + own + at::matmul(step.transpose(-2, -1), step) * (static_cast<double>(count) * share);
      mean = mean + step * share;
    }
    count = both;
  }
};

at::Tensor causal_scatter(const at::Tensor& q, const at::Tensor& k) {
  std::vector<at::Tensor> parts;
  Past past;
  const at::Tensor seen = keys_seen(k, true);
  for_chunks(q, k, true, [&](std::int64_t first, std::int64_t rows, std::int64_t last) {
    const at::Tensor queries = rows_of(q, first, rows), keys = rows_of(k, first, rows);
    const at::Tensor count = rows_of(seen, first, rows);
    // Everything is about a point among the keys, so that nothing large is taken from its like.
    const at::Tensor point = first == 0 ? rows_of(keys, 0, 1).detach() : past.mean;
    const at::Tensor away = at::matmul(queries, (keys - point).transpose(-2, -1)).tril();
    if (first == 0)
      parts.push_back(total((away - total(away) / count).tril().square()));
    else
      parts.push_back(total(at::matmul(queries, past.scatter) * queries) + total(away.square()) -
                      total(away).square() / count);
    if (last < k.size(-2)) past.add(keys);
  });
  return at::cat(parts, -2);
}

}  // namespace

at::Tensor long_softmax_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal) {
#if EUREKA_TORCH_AT_LEAST(2, 1)
  // On a GPU the library's backward pass adds in an order of its own each time.
  if (q.is_cpu()) return at::scaled_dot_product_attention(q, k, v, {}, /*dropout_p=*/0.0, causal, /*scale=*/1.0);
#endif
  const auto flat = [](const at::Tensor& x) { return x.flatten(0, 1); };
  return ChunkedSoftmax::apply(flat(q), flat(k), flat(v), causal).unflatten(0, {q.size(0), q.size(1)});
}

at::Tensor keys_seen(const at::Tensor& k, bool causal) {
  const at::TensorOptions options = k.options().requires_grad(false);
  if (causal) return at::arange(1, k.size(-2) + 1, options).unsqueeze(-1);
  return at::full({1, 1}, static_cast<double>(k.size(-2)), options);
}

at::Tensor logit_scatter(const at::Tensor& q, const at::Tensor& k, bool causal) {
  if (causal) return causal_scatter(q, k);
  // About any other point the scatter is larger: its gradient by the mean is 0.
  const at::Tensor centered = k - k.mean(-2, /*keepdim=*/true).detach();
  return total(at::matmul(q, at::matmul(centered.transpose(-2, -1), centered)) * q);
}

}  // namespace eureka
