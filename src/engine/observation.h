// What happens inside one batch, for diagnostics: a request says what is to be seen, a sink is shown views of it.
//
//   struct Largest final : ObservationSink {
//     float weight = 0;
//     void see(const ObservationView& view) override {
//       const TensorView& a = view.value(Point::weights);
//       for (std::int64_t s = 0; s < a.sizes[0]; ++s) weight = std::max(weight, *a.row(s, 0, 0));
//     }
//   } sink;
//   engine.observe(batch, step, {.points = {Point::weights}, .samples = 16}, sink);
//
// Ensures: looking is a pass of its own that changes no parameter and no bit of the run; steps at which nobody looks
// pay nothing. Views are those of the engine's own memory and hold until see() returns. The samples of a layer come in
// order; layers come in any order; the attention of a block and the residual stream come as views of their own.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "engine/parameters.h"

namespace eureka {

struct FusedRule;

// Where one can look. q and k as they meet: after QK-norm and rotary positions, where there are such; q_raw and k_raw
// before them, and only where there are. logits are q.k before the scale. residual: the stream where it enters block
// `layer`, or behind the last one for layer = depth.
enum class Point : std::uint8_t { q, k, v, logits, weights, head_output, residual, q_raw, k_raw };
inline constexpr std::size_t kPoints = 9;
constexpr auto enum_names(Point) {
  return std::array{"q", "k", "v", "logits", "weights", "head_output", "residual", "q_raw", "k_raw"};
}

class PointSet {
 public:
  constexpr PointSet(std::initializer_list<Point> points = {}) {
    for (const Point point : points) bits_ |= bit(point);
  }
  static constexpr PointSet all() {
    return {Point::q,           Point::k,        Point::v,     Point::logits, Point::weights,
            Point::head_output, Point::residual, Point::q_raw, Point::k_raw};
  }
  constexpr bool has(Point point) const { return (bits_ & bit(point)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr PointSet operator|(PointSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr unsigned bit(Point point) { return 1U << static_cast<unsigned>(point); }
  unsigned bits_ = 0;
};

// Whether parameters are shown, and with which gradient of the whole batch's loss: by a pass of its own, or the one
// that gradient() has left and no update() has used, which costs nothing.
enum class ParameterGradients : std::uint8_t { none, own_pass, pending };

// The update before the step that is looked at.
struct LastUpdate {
  std::int64_t step = 0;
  double lr = 0;
  std::span<const std::uint8_t> frozen = {};  // per parameter: 1 for one that rested in it; empty: none did

  bool passed_over(std::size_t parameter) const { return !frozen.empty() && frozen[parameter] != 0; }
};

struct ObservationRequest {
  PointSet points = {};
  std::vector<int> layers = {};  // empty: all
  std::int64_t samples = 0;      // the first so many of the batch; 0, or more than there are: all
  bool values = true;            // at the points
  bool gradients = false;        // of the whole batch's loss by what stands at the points
  ParameterGradients parameters = ParameterGradients::none;  // whatever `samples` says
  std::optional<LastUpdate> last_update = {};                // parameters are shown with what it changed

  bool wants(int layer) const;
  bool wants(Point point, int layer) const { return points.has(point) && wants(layer); }
  // A request that covers both.
  ObservationRequest operator|(const ObservationRequest& other) const;
};

// samples x heads x rows x columns numbers; a row lies in one piece. q, k, v and head_output have a row per token,
// logits and weights one per query with a column per key. The residual stream has one "head".
struct TensorView {
  const float* data = nullptr;
  std::array<std::int64_t, 4> sizes{};
  std::array<std::int64_t, 3> strides{};  // floats from one sample, head, row to the next

  bool exists() const { return data != nullptr; }
  const float* row(std::int64_t sample, std::int64_t head, std::int64_t row) const {
    return data + sample * strides[0] + head * strides[1] + row * strides[2];
  }
};

// Which keys a query sees, the same for every head.
struct MaskView {
  const std::uint8_t* data = nullptr;  // nullptr: every query sees every key
  std::int64_t sample_stride = 0;
  std::int64_t query_stride = 0;

  bool sees(std::int64_t sample, std::int64_t query, std::int64_t key) const {
    return data == nullptr || data[sample * sample_stride + query * query_stride + key] != 0;
  }
};

// A few samples in one layer. What was not asked for does not exist().
struct ObservationView {
  int layer = 0;
  std::int64_t first_sample = 0;  // of the batch
  std::int64_t samples = 0;
  std::array<TensorView, kPoints> values, gradients;
  // Of the attention, whatever was asked for; the residual stream has neither.
  MaskView mask;
  std::span<const float> scale;  // per head: multiplies the logits, before what the rule itself does to them
  float inverse_root_width = 1;  // 1 / sqrt(head width)
  // nullptr: a rule without a kernel, of which only the weights are known. With one, `strength` per head is its own
  // factor on the scale.
  const FusedRule* rule = nullptr;
  std::span<const float> strength;

  const TensorView& value(Point point) const { return values[static_cast<std::size_t>(point)]; }
  const TensorView& gradient(Point point) const { return gradients[static_cast<std::size_t>(point)]; }
};

// One parameter as a matrix: a vector is one row of it, what has more axes one row per first index.
struct ParameterView {
  const ParameterSpec* spec = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;
  const float* values = nullptr;
  const float* gradient = nullptr;
  std::size_t heads = 0;          // of each block's attention; 0: the model has none
  const float* update = nullptr;  // what the last update added to the values; nullptr: nobody asked, or there was none
};

class ObservationSink {
 public:
  virtual ~ObservationSink() = default;
  virtual void see(const ObservationView& view) = 0;
  // Every parameter once, after all views, if their gradients were asked for.
  virtual void see_parameter(const ParameterView&) {}
};

}  // namespace eureka
