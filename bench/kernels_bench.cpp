// Speed of single kernels; GFLOP/s next to the peak of the core.
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <cmath>

#include "kernels/attention.h"
#include "kernels/attention_statistics.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"

namespace eureka {
namespace {

void fill(Buffer& buffer) {
  for (std::size_t i = 0; i < buffer.size(); ++i)
    buffer.data()[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000) * 1e-3F;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

// rows x columns x depth
struct Operands {
  explicit Operands(const benchmark::State& state)
      : rows(static_cast<std::size_t>(state.range(0))),
        columns(static_cast<std::size_t>(state.range(1))),
        depth(static_cast<std::size_t>(state.range(2))),
        a(rows * row_stride(depth)),
        b(round_up(columns) * depth),
        c(rows * row_stride(columns)),
        slope(rows * row_stride(columns)),
        bias(round_up(columns)) {
    for (Buffer* buffer : {&a, &b, &c, &slope}) fill(*buffer);
  }
  double flops() const { return 2.0 * static_cast<double>(rows * columns * depth); }

  std::size_t rows, columns, depth;
  Buffer a, b, c, slope, bias;
};

// Memory of several layers, visited in turn: when a layer's turn comes again, the others have pushed it out of the
// second-level cache, as in a step.
struct Layers {
  explicit Layers(std::size_t floats)
      : size(floats), count(std::max<std::size_t>(1, (1U << 19) / size)), all(count * size) {
    fill(all);
  }
  float* next() { return all.data() + (turn = (turn + 1) % count) * size; }

  std::size_t size, count, turn = 0;
  Buffer all;
};

void BM_Multiply(benchmark::State& state) {
  Operands o(state);
  for (auto _ : state)
    multiply({o.rows, o.columns, o.depth}, {o.a.data(), row_stride(o.depth)}, MatrixB::packed(o.b.data(), o.depth),
             {o.c.data(), row_stride(o.columns)});
  count_flops(state, o.flops());
}

// y = x W^T by OpenBLAS on one thread, for comparison.
void BM_MultiplyOpenBlas(benchmark::State& state) {
  Operands o(state);
  const auto rows = static_cast<int>(o.rows), columns = static_cast<int>(o.columns), depth = static_cast<int>(o.depth);
  openblas_set_num_threads(1);
  for (auto _ : state)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1, o.a.data(), depth, o.b.data(), depth,
                0, o.c.data(), columns);
  count_flops(state, o.flops());
}

// Our product with weights and results that other layers have pushed out of the second-level cache, as in a step.
void BM_MultiplyLayers(benchmark::State& state) {
  Operands o(state);
  Layers weights(round_up(o.columns) * o.depth), results(o.rows * row_stride(o.columns));
  for (auto _ : state)
    multiply({o.rows, o.columns, o.depth}, {o.a.data(), row_stride(o.depth)}, MatrixB::packed(weights.next(), o.depth),
             {results.next(), row_stride(o.columns)});
  count_flops(state, o.flops());
}

void BM_MultiplyGelu(benchmark::State& state) {
  Operands o(state);
  for (auto _ : state)
    multiply_gelu({o.rows, o.columns, o.depth}, {o.a.data(), row_stride(o.depth)}, MatrixB::packed(o.b.data(), o.depth),
                  o.bias.data(), {o.c.data(), row_stride(o.columns)}, o.slope.data());
  count_flops(state, o.flops());
}

// The gradient of weights (columns x depth) from `rows` rows of a batch.
void BM_WeightGradient(benchmark::State& state) {
  Operands o(state);
  Layers gradients(o.columns * round_up(o.depth)), inputs(o.rows * row_stride(o.depth));
  for (auto _ : state)
    multiply_transposed_accumulate({o.columns, o.depth, o.rows}, {o.c.data(), row_stride(o.columns)},
                                   MatrixB::plain(inputs.next(), row_stride(o.depth)),
                                   {gradients.next(), round_up(o.depth)});
  count_flops(state, o.flops());
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"rows", "columns", "depth"});
  const std::vector<std::vector<std::int64_t>> all = {{102, 192, 64},  {102, 128, 64},  {102, 64, 128}, {102, 64, 588},
                                                      {85, 64, 128},   {85, 192, 64},   {65, 384, 128}, {65, 128, 256},
                                                      {197, 768, 256}, {197, 256, 512}, {90, 96, 32},   {90, 64, 32}};
  for (const auto& shape : all) bench->Args(shape);
}

BENCHMARK(BM_Multiply)->Apply(shapes);
BENCHMARK(BM_MultiplyOpenBlas)->Apply(shapes);
BENCHMARK(BM_MultiplyLayers)->Apply(shapes);
BENCHMARK(BM_MultiplyGelu)->Apply(shapes);
BENCHMARK(BM_WeightGradient)->Apply(shapes);

// samples, tokens, heads, head width
template <bool kBackward, class Rule>
void BM_Attention(benchmark::State& state) {
  const auto at = [&](int i) { return static_cast<std::size_t>(state.range(i)); };
  const AttentionShape shape{at(0), at(1), at(1), at(2), at(3)};
  const std::size_t width = shape.heads * shape.head_width, rows = shape.samples * shape.queries;
  const std::size_t stride = row_stride(3 * width);
  Buffer qkv(rows * stride), d_qkv(rows * stride), weights(shape.weight_floats()), logits(shape.weight_floats()),
      out(rows * row_stride(width));
  Buffer scratch(shape.scratch_floats());
  fill(qkv);
  fill(out);
  const std::vector<float> multiples(shape.heads, 1.0F);
  const HeadRules rule{Rule(), 0.25F, multiples.data()};
  const MatrixA q{qkv.data(), stride}, k{qkv.data() + width, stride}, v{qkv.data() + 2 * width, stride};
  attention(shape, rule, q, k, v, {logits.data(), weights.data()}, {out.data(), row_stride(width)}, scratch.data());
  for (auto _ : state) {
    if (kBackward)
      attention_backward(shape, rule, q, k, v, {logits.data(), weights.data()}, {out.data(), row_stride(width)},
                         {d_qkv.data(), stride}, {d_qkv.data() + width, stride}, {d_qkv.data() + 2 * width, stride},
                         nullptr, scratch.data());
    else
      attention(shape, rule, q, k, v, {logits.data(), weights.data()}, {out.data(), row_stride(width)}, scratch.data());
  }
  count_flops(state, (kBackward ? 8.0 : 4.0) * static_cast<double>(rows * shape.keys * width));
}

void attention_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"samples", "tokens", "heads", "head_width"});
  bench->Args({6, 17, 4, 16})->Args({1, 65, 4, 32})->Args({1, 197, 4, 64})->Args({18, 5, 2, 16});
}

BENCHMARK(BM_Attention<false, SoftmaxOptions>)->Apply(attention_shapes);
BENCHMARK(BM_Attention<true, SoftmaxOptions>)->Apply(attention_shapes);
BENCHMARK(BM_Attention<false, NormSoftmaxOptions>)->Apply(attention_shapes);
BENCHMARK(BM_Attention<true, NormSoftmaxOptions>)->Apply(attention_shapes);

template <bool kBackward>
void BM_LayerNorm(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0)), width = static_cast<std::size_t>(state.range(1));
  const std::size_t stride = row_stride(width);
  const NormShape shape{rows, width, 1e-6F};
  Buffer x(rows * stride), y(rows * stride), gain(round_up(width)), mean(rows), scale(rows);
  Buffer dx(rows * stride), d_gain(round_up(width)), d_bias(round_up(width));
  fill(x);
  fill(y);
  for (auto _ : state) {
    if (kBackward)
      layer_norm_backward(shape, x.data(), stride, gain.data(), mean.data(), scale.data(), y.data(), stride, dx.data(),
                          dx.data(), stride, d_gain.data(), d_bias.data());
    else
      layer_norm(shape, x.data(), stride, gain.data(), gain.data(), y.data(), stride, mean.data(), scale.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(BM_LayerNorm<false>)->Args({102, 64})->Args({197, 256});
BENCHMARK(BM_LayerNorm<true>)->Args({102, 64})->Args({197, 256});

// One weight matrix, both ways, as before every step.
void BM_Pack(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0)), columns = static_cast<std::size_t>(state.range(1));
  Buffer w(rows * round_up(columns)), forward(round_up(rows) * columns), back(rows * round_up(columns));
  for (auto _ : state) {
    pack_transposed(w.data(), rows, columns, round_up(columns), forward.data());
    pack(w.data(), rows, columns, round_up(columns), 0, rows, back.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(BM_Pack)->Args({128, 64})->Args({64, 588})->Args({768, 256});

void BM_Peak(benchmark::State& state) {
  double best = 0;
  for (auto _ : state) best = std::max(best, measured_peak_flops());
  state.counters["GFLOP/s"] = best * 1e-9;
}
BENCHMARK(BM_Peak)->Iterations(1);

// Coefficients per second on one core; training diagnostics need 200 million at 64 keys. The second argument: with
// logits.
void BM_AttentionStatistics(benchmark::State& state) {
  const auto keys = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kRows = 256;
  Buffer logits(kRows * keys), weights(kRows * keys);
  fill(logits);
  for (std::size_t row = 0; row < kRows; ++row) {
    float sum = 0;
    for (std::size_t i = 0; i < keys; ++i)
      sum += weights.data()[row * keys + i] = std::exp(5 * logits.data()[row * keys + i]);
    for (std::size_t i = 0; i < keys; ++i) weights.data()[row * keys + i] /= sum;
  }
  for (auto _ : state)
    for (std::size_t row = 0; row < kRows; ++row)
      benchmark::DoNotOptimize(
          attention_statistics({.weights = weights.data() + row * keys,
                                .keys = keys,
                                .logits = state.range(1) != 0 ? logits.data() + row * keys : nullptr,
                                .scale = 5},
                               0.05F));
  state.counters["Mcoefficients/s"] =
      benchmark::Counter(static_cast<double>(kRows * keys) * 1e-6, benchmark::Counter::kIsIterationInvariantRate,
                         benchmark::Counter::kIs1000);
}
BENCHMARK(BM_AttentionStatistics)->Args({17, 0})->Args({64, 0})->Args({64, 1})->Args({197, 0});

}  // namespace
}  // namespace eureka

BENCHMARK_MAIN();
