// The main image task: digit, garment / garment, digit. If the digits are of the same class the label is the upper
// garment's class, else the lower one's. The digits are blue or red, which means nothing.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits, kClothes };

class DigitPair final : public TileTask {
 public:
  explicit DigitPair(const IndicatorOptions& options)
      : DigitPair(options, parse_classes(options.indicator_classes, "indicator_classes"),
                  parse_classes(options.target_classes, "target_classes")) {}

 private:
  DigitPair(const IndicatorOptions& options, const std::vector<int>& indicators, const std::vector<int>& targets)
      : TileTask("digit-pair", options, {{TileFamily::digits, indicators, kBlueOrRed}, {TileFamily::clothes, targets}},
                 static_cast<int>(targets.size()),
                 pair_latents(
                     "same", indicators, targets,
                     {irrelevant_latent("colour_1", {"blue", "red"}), irrelevant_latent("colour_2", {"blue", "red"})})),
        indicators_(static_cast<int>(indicators.size())),
        targets_(static_cast<int>(targets.size())) {}

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [indicator_1, indicator_2] = draw_pair(random, same, indicators_);
    const int target_1 = draw_class(random, targets_), target_2 = draw_class(random, targets_);
    const int color_1 = draw_class(random, 2), color_2 = draw_class(random, 2);
    scene[top_left] = {kDigits, indicator_1, two_colors(color_1), TwoStepRole::indicator};
    scene[top_right] = {kClothes, target_1, kWhite, TwoStepRole::target};
    scene[bottom_left] = {kClothes, target_2, kWhite, TwoStepRole::target};
    scene[bottom_right] = {kDigits, indicator_2, two_colors(color_2), TwoStepRole::indicator};
    set_latents(latents, {same, indicator_1, indicator_2, target_1, target_2, color_1, color_2});
  }

  int rule(const Scene& scene) const override {
    const bool same = scene[top_left].class_index == scene[bottom_right].class_index;
    return scene[same ? top_right : bottom_left].class_index;
  }

  int indicators_;
  int targets_;
};

EUREKA_TASK("digit-pair", DigitPair, IndicatorOptions,
            "images: two digits of the same class or not decide which of two garments carries the label");

}  // namespace
}  // namespace eureka
