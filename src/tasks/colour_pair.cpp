// Four digits, each blue or red. If the upper left and the lower right one have the same colour the label is the upper
// right digit, else the lower left one.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits };

class ColourPair final : public TileTask {
 public:
  explicit ColourPair(const TileOptions& options)
      : ColourPair(options, parse_classes(options.target_classes, "target_classes")) {}

 private:
  ColourPair(const TileOptions& options, const std::vector<int>& digits)
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
    refuse_grey(options, "colour-pair");
  }

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [colour_1, colour_2] = draw_pair(random, same, 2);
    const auto digit = [&](int colour, TwoStepRole role) {
      return Tile{kDigits, draw_class(random, digits_), two_colours(colour), role};
    };
    const int target_colour_1 = draw_class(random, 2), target_colour_2 = draw_class(random, 2);
    scene[top_left] = digit(colour_1, TwoStepRole::indicator);
    scene[top_right] = digit(target_colour_1, TwoStepRole::target);
    scene[bottom_left] = digit(target_colour_2, TwoStepRole::target);
    scene[bottom_right] = digit(colour_2, TwoStepRole::indicator);
    set_latents(latents,
                {same, colour_1, colour_2, scene[top_right].class_index, scene[bottom_left].class_index,
                 scene[top_left].class_index, scene[bottom_right].class_index, target_colour_1, target_colour_2});
  }

  int rule(const Scene& scene) const override {
    const bool same =
        nearest_colour(scene[top_left].colour, kTwoColours) == nearest_colour(scene[bottom_right].colour, kTwoColours);
    return scene[same ? top_right : bottom_left].class_index;
  }

  int digits_;
};

EUREKA_TASK("colour-pair", ColourPair, TileOptions,
            "images: two digits of the same colour or not decide which of two other digits is the label");

}  // namespace
}  // namespace eureka
