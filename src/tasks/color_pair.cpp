// Four digits, each blue or red. If the upper left and the lower right one have the same color the label is the upper
// right digit, else the lower left one.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits };

class ColorPair final : public TileTask {
 public:
  explicit ColorPair(const TileOptions& options)
      : ColorPair(options, parse_classes(options.target_classes, "target_classes")) {}

 private:
  ColorPair(const TileOptions& options, const std::vector<int>& digits)
      : TileTask("colour-pair", options, {{TileFamily::digits, digits, kBlueOrRed}}, static_cast<int>(digits.size()),
                 {intermediate_latent("same_colour", kNoYes), intermediate_latent("colour_1", {"blue", "red"}),
                  intermediate_latent("colour_2", {"blue", "red"}),
                  target_latent("target_1", class_names(TileFamily::digits, digits)),
                  target_latent("target_2", class_names(TileFamily::digits, digits)),
                  irrelevant_latent("indicator_1", class_names(TileFamily::digits, digits)),
                  irrelevant_latent("indicator_2", class_names(TileFamily::digits, digits)),
                  irrelevant_latent("target_colour_1", {"blue", "red"}),
                  irrelevant_latent("target_colour_2", {"blue", "red"})}),
        digits_(static_cast<int>(digits.size())) {
    refuse_gray(options, "colour-pair");
  }

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [color_1, color_2] = draw_pair(random, same, 2);
    const auto digit = [&](int color, TwoStepRole role) {
      return Tile{kDigits, draw_class(random, digits_), two_colors(color), role};
    };
    const int target_color_1 = draw_class(random, 2), target_color_2 = draw_class(random, 2);
    scene[top_left] = digit(color_1, TwoStepRole::indicator);
    scene[top_right] = digit(target_color_1, TwoStepRole::target);
    scene[bottom_left] = digit(target_color_2, TwoStepRole::target);
    scene[bottom_right] = digit(color_2, TwoStepRole::indicator);
    set_latents(latents,
                {same, color_1, color_2, scene[top_right].class_index, scene[bottom_left].class_index,
                 scene[top_left].class_index, scene[bottom_right].class_index, target_color_1, target_color_2});
  }

  int rule(const Scene& scene) const override {
    const bool same =
        nearest_color(scene[top_left].color, kTwoColors) == nearest_color(scene[bottom_right].color, kTwoColors);
    return scene[same ? top_right : bottom_left].class_index;
  }

  int digits_;
};

EUREKA_TASK("colour-pair", ColorPair, TileOptions,
            "images: two digits of the same colour or not decide which of two other digits is the label");

}  // namespace
}  // namespace eureka
