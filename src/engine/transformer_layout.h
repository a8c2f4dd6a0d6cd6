// The transformer as data: its options and its parameters. Engines differ in how they compute, not in what.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "engine/parameters.h"
#include "engine/scale.h"
#include "tasks/task.h"

namespace eureka {

enum class Positions { learned, sinusoidal, rotary, none };
constexpr auto enum_names(Positions) { return std::array{"learned", "sinusoidal", "rotary", "none"}; }

enum class NormKind { layer, rms, none };
constexpr auto enum_names(NormKind) { return std::array{"layer", "rms", "none"}; }

enum class Activation { gelu, relu };
constexpr auto enum_names(Activation) { return std::array{"gelu", "relu"}; }

enum class WeightDistribution { normal, truncated_normal };
constexpr auto enum_names(WeightDistribution) { return std::array{"normal", "truncated-normal"}; }

// Standard deviations of the initial weights by group; 0 takes what the help says.
struct TransformerInit {
  WeightDistribution distribution = WeightDistribution::normal;
  double weights = 0.02;
  double query_key = 0;
  double value = 0;
  double residual = 0;
  double head = 0;
  double embedding = 0;
  double positions = 0.02;
  double cls = 0.02;

  template <class V>
  void visit(V& v) {
    v("distribution", distribution, "normal, or truncated at two standard deviations");
    v("weights", weights, Range{0, 10}, "standard deviation of all matrices not named below");
    v("query_key", query_key, Range{0, 10}, "of W_Q and W_K; 0: as weights");
    v("value", value, Range{0, 10}, "of W_V; 0: as weights");
    v("residual", residual, Range{0, 10},
      "of the matrices that write to the residual stream (attn.proj, mlp.fc2); 0: as weights; GPT-2: weights / sqrt(2 "
      "depth)");
    v("head", head, Range{0, 10}, "of the classifier; 0: as weights");
    v("embedding", embedding, Range{0, 10}, "of the embedding; 0: uniform within 1/sqrt(fan in), for ids as weights");
    v("positions", positions, Range{0, 10}, "of learned positions");
    v("cls", cls, Range{0, 10}, "of the cls token");
  }
};

struct TransformerOptions {
  int width = 32;
  int depth = 2;
  int heads = 2;
  double mlp_ratio = 2;
  Activation activation = Activation::gelu;
  NormKind norm = NormKind::layer;
  Positions positions = Positions::learned;
  bool qkv_bias = false;
  bool tied_head = false;
  double stochastic_depth = 0;
  double dropout = 0;
  double norm_epsilon = 1e-6;
  TransformerInit init;

  template <class V>
  void visit(V& v) {
    v("width", width, Range{1, 65536}, "size of the residual stream; a multiple of heads");
    v("depth", depth, Range{1, 1024}, "number of blocks");
    v("heads", heads, Range{1, 1024}, "attention heads per block");
    v("mlp_ratio", mlp_ratio, Range{0, 64}, "hidden size of the MLP as a multiple of width; 0: attention only");
    v("activation", activation, "of the MLP");
    v("norm", norm, "before every branch and before the head: LayerNorm, RMSNorm, or none");
    v("positions", positions, "added to the embedding; rotary turns queries and keys instead");
    v("qkv_bias", qkv_bias, "biases on queries, keys and values");
    v("tied_head", tied_head, "the head shares its matrix with the embedding of ids");
    v("stochastic_depth", stochastic_depth, Range{0, 0.99},
      "chance to skip a branch in the last block, rising linearly from 0 in the first");
    v("dropout", dropout, Range{0, 0.99}, "on the embedding and on the output of every attention and MLP branch");
    v("norm_epsilon", norm_epsilon, Range{1e-12, 1}, "epsilon of the norms");
    v.table("init", init);
  }

  std::int64_t head_width() const { return width / heads; }
  std::int64_t mlp_width() const { return mlp_ratio > 0 ? std::max(1LL, std::llround(mlp_ratio * width)) : 0; }
};

struct VitOptions : TransformerOptions {
  int patch = 7;

  template <class V>
  void visit(V& v) {
    v("patch", patch, Range{1, 4096}, "side of the square patches an image is cut into; divides its height and width");
    TransformerOptions::visit(v);
  }
};

enum class TransformerKind { encoder, vit, decoder };

// The kind of transformer that a model of this name is, if it is one.
std::optional<TransformerKind> transformer_kind(const std::string& model);

// A transformer made for a task: the tokens that go through it and what comes out.
struct TransformerPlan {
  TransformerOptions options;
  TaskShape shape;
  std::int64_t patch = 0;      // side; 0 when the input is no image
  bool causal = false;         // a decoder: token i sees tokens 0 to i
  std::int64_t given = 0;      // tokens made of the input
  std::int64_t dimension = 0;  // of what the embedding takes: a vector, or the values of a patch; 0 for ids

  // Every token predicts, or a cls token does for the sample.
  bool has_cls() const { return !shape.every_position; }
  std::int64_t tokens() const { return given + (has_cls() ? 1 : 0); }
};

// Throws Error(config) when kind, options and task do not fit together. `patch` matters for a vit only.
TransformerPlan plan_transformer(TransformerKind kind, const TransformerOptions& options, int patch,
                                 const TaskShape& shape);
TransformerPlan plan_transformer(TransformerKind kind, const OptionValues& options, const TaskShape& shape);

// Attention heads of each block of this model; 0 if it is no transformer.
std::size_t attention_heads(const std::string& model, const OptionValues& options, const TaskShape& shape);

// All parameters in a fixed order; `rule_parameters` are those of one block's attention rule, named after
// "blocks.N.attn.".
std::vector<ParameterSpec> transformer_parameters(const TransformerPlan& plan, const ScaleOptions& scale,
                                                  const std::vector<ParameterSpec>& rule_parameters);

// Chance to skip a branch of block `layer`.
double drop_path_rate(const TransformerOptions& options, int layer);

// cos and sin of the angle by which rotary positions turn each pair of a head's columns: rows x (head width / 2) of
// the one, then of the other. Columns i and i + head width / 2 are a pair, as in Llama.
std::vector<float> rotary_angles(std::int64_t rows, std::int64_t head_width);

// Fixed sinusoidal positions, rows x width; where there is a cls token, row 0 is its own.
std::vector<float> sinusoidal_positions(std::int64_t rows, std::int64_t width);

}  // namespace eureka
