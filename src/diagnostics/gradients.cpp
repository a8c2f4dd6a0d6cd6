// How large the gradients of the weight matrices are: of W_Q, W_K, W_V and W_O by layer and head, and of all else.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "diagnostics/diagnostic.h"

namespace eureka {
namespace {

// Sums over some of a parameter's numbers.
struct Sums {
  double count = 0, absolute = 0, square = 0;  // of the gradient
  double weight_square = 0, update_square = 0;
  bool updated = false;

  void add(const Sums& other) {
    count += other.count;
    absolute += other.absolute;
    square += other.square;
    weight_square += other.weight_square;
    update_square += other.update_square;
    updated = updated || other.updated;
  }
  double mean_abs() const { return absolute / count; }
  double norm() const { return std::sqrt(square); }
};

// One after the other would wait for each addition; these are added in one order on every machine.
struct LaneSums {
  static constexpr std::size_t kLanes = 4;
  double lanes[kLanes] = {};
  double total() const { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
};

Sums sums_of(const ParameterView& view, std::int64_t row, std::int64_t first, std::int64_t columns) {
  const float* gradient = view.gradient + row * view.stride + first;
  const float* values = view.values + row * view.stride + first;
  const float* update = view.update == nullptr ? nullptr : view.update + row * view.stride + first;
  LaneSums absolute, square, weight, change;
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::size_t lane = static_cast<std::size_t>(i) % LaneSums::kLanes;
    const double g = static_cast<double>(gradient[i]), w = static_cast<double>(values[i]);
    absolute.lanes[lane] += std::abs(g);
    square.lanes[lane] += g * g;
    weight.lanes[lane] += w * w;
    if (update == nullptr) continue;
    const auto u = static_cast<double>(update[i]);
    change.lanes[lane] += u * u;
  }
  return {.count = static_cast<double>(columns),
          .absolute = absolute.total(),
          .square = square.total(),
          .weight_square = weight.total(),
          .update_square = change.total(),
          .updated = update != nullptr};
}

// A matrix of an attention block, or what is not part of one.
struct Place {
  int layer = -1;
  std::string part;  // "q", "mlp", "embedding"
  bool operator<(const Place& other) const { return layer != other.layer ? layer < other.layer : part < other.part; }
};

// "blocks.3.attn.q.weight" -> layer 3, "q".
Place place_of(const ParameterSpec& spec) {
  static constexpr const char* kGroups[kParameterGroups] = {"embedding",  "positions",  "cls",        "query_key",
                                                            "value",      "projection", "rule",       "mlp",
                                                            "layer_norm", "head",       "convolution"};
  const std::string group = kGroups[static_cast<std::size_t>(spec.group)];
  const std::string& name = spec.name;
  if (!name.starts_with("blocks.")) return {-1, group};
  const std::size_t dot = name.find('.', 7);
  const int layer = std::stoi(name.substr(7, dot - 7));
  const std::string rest = name.substr(dot + 1);
  for (const auto& [prefix, part] : {std::pair{"attn.q.", "q"}, {"attn.k.", "k"}, {"attn.v.", "v"}})
    if (rest.starts_with(prefix)) return {layer, part};
  if (rest.starts_with("attn.proj.")) return {layer, "o"};
  return {layer, group};
}

class Gradients final : public Diagnostic {
 public:
  explicit Gradients(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {{"qk_to_v", "ratio", "mean |gradient| of W_Q and W_K, by that of W_V: how they starve beside it"},
            {"mean_abs", "loss per weight", "mean |gradient| of q, k, v (W_Q, W_K, W_V), o (W_O), mlp, embedding, ..."},
            {"norm", "loss per weight", "norm of the gradient of the same"},
            {"update_to_weight", "ratio",
             "norm of the last update by that of the weights; about 1e-3 in healthy training"}};
  }

  ObservationRequest wants() const override { return {.parameters = ParameterGradients::own_pass}; }

  void see_parameter(const ParameterView& view) override {
    const Place place = place_of(*view.spec);
    const bool by_rows = place.part == "q" || place.part == "k" || place.part == "v", by_columns = place.part == "o";
    // What is said of a matrix is said without its bias.
    if (view.spec->shape.size() < 2 && (by_rows || by_columns || place.part == "mlp")) return;
    Part& part = parts_[place];
    const auto heads = static_cast<std::int64_t>(view.heads);
    if (by_rows || by_columns) part.heads.resize(view.heads);
    for (std::int64_t row = 0; row < view.rows; ++row) {
      if (part.heads.empty()) {
        part.all.add(sums_of(view, row, 0, view.columns));
      } else if (by_rows) {
        const Sums sums = sums_of(view, row, 0, view.columns);
        part.all.add(sums);
        part.heads[static_cast<std::size_t>(row * heads / view.rows)].add(sums);
      } else {
        for (std::int64_t head = 0; head < heads; ++head) {
          const std::int64_t first = view.columns * head / heads, last = view.columns * (head + 1) / heads;
          const Sums sums = sums_of(view, row, first, last - first);
          part.all.add(sums);
          part.heads[static_cast<std::size_t>(head)].add(sums);
        }
      }
    }
  }

  void report(NumberRow& row) override {
    add_ratios(row);
    add(row, "mean_abs", true, [](const Sums& sums) { return sums.mean_abs(); });
    add(row, "norm", true, [](const Sums& sums) { return sums.norm(); });
    add(row, "update_to_weight", false, [](const Sums& sums) {
      return sums.updated ? std::sqrt(sums.update_square / sums.weight_square) : std::nan("");
    });
    parts_.clear();
  }

 private:
  struct Part {
    Sums all;
    std::vector<Sums> heads;  // empty where there are none
  };

  static std::string name_of(const char* number, const Place& place, const std::string& head = "") {
    std::string name = std::string(number) + "/" + place.part;
    if (place.layer >= 0) name += "/layer" + std::to_string(place.layer);
    return name + head;
  }

  template <class Number>
  void add(NumberRow& row, const char* name, bool by_head, const Number& number) const {
    for (const auto& [place, part] : parts_) {
      row.add(name_of(name, place), number(part.all));
      if (!by_head) continue;
      for (std::size_t head = 0; head < part.heads.size(); ++head)
        row.add(name_of(name, place, "/head" + std::to_string(head)), number(part.heads[head]));
    }
  }

  void add_ratios(NumberRow& row) const {
    for (const auto& [place, q] : parts_) {
      if (place.part != "q" || place.layer < 0) continue;
      const Part &k = parts_.at({place.layer, "k"}), &v = parts_.at({place.layer, "v"});
      const auto ratio = [](const Sums& of_q, const Sums& of_k, const Sums& of_v) {
        return (of_q.mean_abs() + of_k.mean_abs()) / 2 / of_v.mean_abs();
      };
      row.add("qk_to_v", place.layer, ratio(q.all, k.all, v.all));
      for (std::size_t head = 0; head < q.heads.size(); ++head)
        row.add(fmt::format("qk_to_v/layer{}/head{}", place.layer, head),
                ratio(q.heads[head], k.heads[head], v.heads[head]));
    }
  }

  std::map<Place, Part> parts_;
};

EUREKA_DIAGNOSTIC("gradients", Gradients, NoOptions,
                  "size of the gradients of W_Q, W_K, W_V, W_O by head and of all else, and of the last update");

}  // namespace
}  // namespace eureka
