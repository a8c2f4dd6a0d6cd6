// What the image tasks share: an image of four tiles, composed on the fly, and an oracle that knows the tiles again. A
// task of this family says which tiles there are and states its rule once:
//
//   class DigitPair final : public TileTask {
//     void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override;     which tiles, where
//     int rule(const Scene& scene) const override;                                              the label
//   };
//
// The rule reads drawn scenes (for the label) and recognized ones (for the oracle) alike. A tile's gray image is
// multiplied by a color that carries a little noise per channel, cut at three deviations so that no color turns into
// another. Streams called "train" see training images, all others test images.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tasks/tile_bank.h"
#include "tasks/two_step_roles.h"

namespace eureka {

enum class ImageData : std::uint8_t { glyphs, mnist };
constexpr auto enum_names(ImageData) { return std::array{"glyphs", "mnist"}; }

struct TileOptions {
  ImageData data = ImageData::glyphs;
  int pool = 1;
  bool gray = false;
  bool center = false;
  double color_noise = 0.05;
  double top_right_probability = 0.5;
  std::string target_classes = "0123456789";

  template <class V>
  void visit(V& v) {
    v("data", data, "glyphs: drawn, a stand-in; mnist: MNIST, Fashion-MNIST and, for objects, CIFAR-10");
    v("pool", pool, Range{1, 4}, "averages squares of pixels: 2 makes tiles of 14 x 14");
    v("grey", gray, "one channel, no colours");
    v("centre", center, "subtract the mean image of each kind of tile and divide by 0.33");
    v("colour_noise", color_noise, Range{0, 0.2}, "standard deviation per tile and channel");
    v("top_right_probability", top_right_probability, Range{0, 1},
      "how often the first of the two candidates carries the label");
    v("target_classes", target_classes, "the target classes in use, as digits; labels count them from 0");
  }
};

// Of tasks whose indicators are digits.
struct IndicatorOptions : TileOptions {
  std::string indicator_classes = "12";

  template <class V>
  void visit(V& v) {
    TileOptions::visit(v);
    v("indicator_classes", indicator_classes, "the digits that serve as indicators");
  }
};

using Color = std::array<float, 3>;
inline constexpr Color kWhite = {1, 1, 1};

enum Place : std::uint8_t { top_left, top_right, bottom_left, bottom_right };
inline constexpr std::array kPlaces = {top_left, top_right, bottom_left, bottom_right};

struct Tile {
  int bank = -1;  // of TileTask's banks; -1: black
  int class_index = 0;
  Color color = kWhite;
  TwoStepRole role = TwoStepRole::distractor;
};
using Scene = std::array<Tile, 4>;  // by Place

enum class TileFamily : std::uint8_t { digits, clothes, objects };

struct BankSpec {
  TileFamily family;
  std::vector<int> classes;
  Color mean_color = kWhite;  // of its tiles, for `centre`
};

class TileTask : public Task {
 public:
  TaskShape shape() const override;
  Metric metric() const override;
  std::vector<Role> roles() const override { return two_step_roles(); }
  std::vector<Latent> latents() const override { return latents_; }
  void sample(const SampleRequest& request, Batch& batch) const override;
  std::vector<std::int64_t> oracle(const Batch& batch) const override;
  // The indicators and the target that carries the label; without indicators, all targets.
  std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const override;

 protected:
  // `name` seeds the draws. No data set is opened before the first sample. Throws Error(config).
  TileTask(std::string name, const TileOptions& options, std::vector<BankSpec> banks, int label_count,
           std::vector<Latent> latents);

  // One scene, drawn so that its first candidate carries the label with top_right_probability.
  virtual void draw(RandomStream& random, Scene& scene, std::span<int> latents) const = 0;
  virtual int rule(const Scene& scene) const = 0;
  // Which of the targets, in reading order, carries the label. The first latent says whether the first candidate does.
  virtual std::size_t label_carrier(std::span<const int> latents) const { return latents[0] == 1 ? 0 : 1; }

  bool first_counts(RandomStream& random) const { return random.chance(options_.top_right_probability); }
  const TileOptions& options() const { return options_; }

 private:
  using Banks = std::vector<std::unique_ptr<TileBank>>;

  const Banks& banks() const;
  std::int64_t side() const { return kTileSide / options_.pool; }
  std::int64_t channels() const { return options_.gray ? 1 : 3; }
  Color noisy(RandomStream& random, const Color& color) const;
  void compose(RandomStream& random, Split split, const Scene& scene, float* image) const;
  void paint(const TileBank& bank, const Color& mean_color, const std::uint8_t* pixels, const Color& color,
             float* tile) const;
  Tile recognize(const float* tile) const;
  // Floats of a row of the image, and before the first pixel of a tile.
  std::size_t row_floats() const { return static_cast<std::size_t>(2 * side() * channels()); }
  std::size_t first_pixel(Place place) const;

  std::string name_;
  TileOptions options_;
  std::vector<BankSpec> specs_;
  int label_count_;
  std::vector<Latent> latents_;
  mutable std::once_flag opened_;
  mutable Banks banks_;
};

// "12" -> {1, 2}. Throws Error(config), naming the option, unless all are different digits and there are `at_least`.
std::vector<int> parse_classes(const std::string& text, const std::string& option, std::size_t at_least = 2);

int draw_class(RandomStream& random, int count);  // uniform in 0 .. count - 1
// Two classes of `count`, the same one or two different ones.
std::pair<int, int> draw_pair(RandomStream& random, bool same, int count);

// The colors of the published tasks.
inline constexpr Color kBlue = {0, 0, 1}, kRed = {1, 0, 0};
inline constexpr Color kBlueOrRed = {0.5F, 0, 0.5F};  // their mean
inline constexpr std::array<Color, 2> kTwoColors = {kBlue, kRed};
inline const Color& two_colors(int index) { return kTwoColors[static_cast<std::size_t>(index)]; }
std::span<const Color> ten_colors();
std::vector<std::string> ten_color_names();
int nearest_color(const Color& color, std::span<const Color> palette);

// Latents by what they are, so that tasks name them alike.
Latent intermediate_latent(std::string name, std::vector<std::string> value_names);
Latent target_latent(std::string name, std::vector<std::string> value_names);
Latent irrelevant_latent(std::string name, std::vector<std::string> value_names);
inline const std::vector<std::string> kNoYes = {"no", "yes"};
std::vector<std::string> place_names();
inline void set_latents(std::span<int> latents, std::initializer_list<int> values) {
  std::copy(values.begin(), values.end(), latents.begin());
}
// For the classes of a family in use: "3 dress" with the label it makes, digits and objects by their own name.
std::vector<std::string> class_names(TileFamily family, const std::vector<int>& classes);

// Of a task with two digits as indicators and two garments as targets: the hidden step, the four classes, the rest.
std::vector<Latent> pair_latents(std::string hidden, const std::vector<int>& indicators,
                                 const std::vector<int>& targets, std::vector<Latent> irrelevant);

// For tasks about colors. Throws Error(config).
void refuse_gray(const TileOptions& options, const std::string& task);

}  // namespace eureka
