// Attention maps of the first samples: a picture with a map for every layer and head (rows) and sample (columns), and
// the weights themselves as tensors.
#include <algorithm>
#include <cmath>
#include <map>

#include "diagnostics/diagnostic.h"
#include "io/png.h"
#include "io/safetensors.h"

namespace eureka {
namespace {

struct Options {
  int shown = 4;

  template <class V>
  void visit(V& v) {
    v("shown", shown, Range{1, 256}, "samples whose maps are kept, the first of those that are looked at");
  }
};

// Dark to bright in even steps of lightness, and legible without color: three stops of a perceptual map.
void paint(double weight, std::uint8_t* rgb) {
  static constexpr double kStops[3][3] = {{48, 18, 84}, {33, 145, 140}, {253, 231, 37}};
  const double place = 2 * std::clamp(weight, 0.0, 1.0);
  const int first = place < 1 ? 0 : 1;
  for (int c = 0; c < 3; ++c)
    rgb[c] =
        static_cast<std::uint8_t>(kStops[first][c] + (place - first) * (kStops[first + 1][c] - kStops[first][c]) + 0.5);
}

class Maps final : public Diagnostic {
 public:
  explicit Maps(const Options& options) : options_(options) {}

  std::vector<NumberInfo> numbers() const override { return {}; }
  ObservationRequest wants() const override { return {.points = {Point::weights}}; }

  void begin(const LookContext& context) override {
    step_ = context.step;
    samples_ = std::min<std::int64_t>(options_.shown, context.samples);
    layers_.clear();
  }

  void see(const ObservationView& view) override {
    const TensorView& weights = view.value(Point::weights);
    if (!weights.exists()) return;
    Layer& layer = layers_[view.layer];
    layer.sizes = {samples_, weights.sizes[1], weights.sizes[2], weights.sizes[3]};
    for (std::int64_t s = 0; s < view.samples && view.first_sample + s < samples_; ++s)
      for (std::int64_t head = 0; head < weights.sizes[1]; ++head)
        for (std::int64_t query = 0; query < weights.sizes[2]; ++query) {
          const float* row = weights.row(s, head, query);
          for (std::int64_t key = 0; key < weights.sizes[3]; ++key) {
            layer.weights.push_back(row[key]);
            layer.seen.push_back(view.mask.sees(s, query, key) ? 1 : 0);
          }
        }
  }

  void report(NumberRow&) override {}

  std::vector<LookFile> take_files() override {
    std::vector<LookFile> files;
    if (!layers_.empty()) files = {{"attention.png", png_bytes(picture())}, {"attention.safetensors", tensors()}};
    layers_.clear();
    return files;
  }

 private:
  struct Layer {
    std::vector<std::int64_t> sizes;  // samples, heads, queries, keys
    std::vector<float> weights;
    std::vector<std::uint8_t> seen;  // which keys a query sees
  };

  std::string tensors() const {
    TensorFile file;
    file.metadata["step"] = std::to_string(step_);
    for (const auto& [index, layer] : layers_)
      file.add(make_tensor<float>("layer" + std::to_string(index), layer.sizes, layer.weights));
    return write_safetensors(file);
  }

  RgbImage picture() const {
    const std::vector<std::int64_t>& sizes = layers_.begin()->second.sizes;
    const std::int64_t heads = sizes[1], queries = sizes[2], keys = sizes[3];
    // Maps of few tokens are drawn large enough to be seen.
    constexpr std::int64_t kSide = 64, kGap = 4;
    const std::int64_t cell = std::max<std::int64_t>(1, kSide / std::max(queries, keys));
    const std::int64_t across = keys * cell + kGap, down = queries * cell + kGap;
    RgbImage image;
    image.width = static_cast<int>(samples_ * across + kGap);
    image.height = static_cast<int>(static_cast<std::int64_t>(layers_.size()) * (heads * down + kGap));
    image.rgb.assign(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3, 255);
    std::int64_t top = kGap;
    for (const auto& [index, layer] : layers_) {
      for (std::int64_t head = 0; head < heads; ++head, top += down)
        for (std::int64_t s = 0; s < samples_; ++s)
          draw(layer, s * heads + head, {kGap + s * across, top}, cell, image);
      top += kGap;
    }
    return image;
  }

  static void draw(const Layer& layer, std::int64_t map, std::pair<std::int64_t, std::int64_t> corner,
                   std::int64_t cell, RgbImage& image) {
    const std::int64_t queries = layer.sizes[2], keys = layer.sizes[3];
    for (std::int64_t y = 0; y < queries * cell; ++y)
      for (std::int64_t x = 0; x < keys * cell; ++x) {
        const auto at = static_cast<std::size_t>((map * queries + y / cell) * keys + x / cell);
        std::uint8_t* pixel = image.rgb.data() + ((corner.second + y) * image.width + corner.first + x) * 3;
        if (layer.seen[at] != 0)
          paint(static_cast<double>(layer.weights[at]), pixel);
        else
          std::fill_n(pixel, 3, std::uint8_t{224});  // hidden
      }
  }

  Options options_;
  std::int64_t step_ = 0, samples_ = 0;
  std::map<int, Layer> layers_;
};

EUREKA_DIAGNOSTIC("maps", Maps, Options, "attention maps of a few samples, as a picture and as tensors");

}  // namespace
}  // namespace eureka
