// As digit-pair, but in each row the digit and the garment swap places at random: where a tile lies tells nothing but
// its row.
#include <utility>

#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits, kClothes };

class DigitPairAnywhere final : public TileTask {
 public:
  explicit DigitPairAnywhere(const IndicatorOptions& options)
      : DigitPairAnywhere(options, parse_classes(options.indicator_classes, "indicator_classes"),
                          parse_classes(options.target_classes, "target_classes")) {}

 private:
  DigitPairAnywhere(const IndicatorOptions& options, const std::vector<int>& indicators,
                    const std::vector<int>& targets)
      : TileTask("digit-pair-anywhere", options,
                 {{TileFamily::digits, indicators, kBlueOrRed}, {TileFamily::clothes, targets}},
                 static_cast<int>(targets.size()),
                 pair_latents("same", indicators, targets,
                              {irrelevant_latent("swap_1", kNoYes), irrelevant_latent("swap_2", kNoYes)})),
        indicators_(static_cast<int>(indicators.size())),
        targets_(static_cast<int>(targets.size())) {}

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [indicator_1, indicator_2] = draw_pair(random, same, indicators_);
    const int target_1 = draw_class(random, targets_), target_2 = draw_class(random, targets_);
    const int swap_1 = draw_class(random, 2), swap_2 = draw_class(random, 2);
    const auto digit = [&](int class_index) {
      return Tile{kDigits, class_index, two_colors(draw_class(random, 2)), TwoStepRole::indicator};
    };
    scene[top_left] = digit(indicator_1);
    scene[top_right] = {kClothes, target_1, kWhite, TwoStepRole::target};
    scene[bottom_left] = {kClothes, target_2, kWhite, TwoStepRole::target};
    scene[bottom_right] = digit(indicator_2);
    if (swap_1 == 1) std::swap(scene[top_left], scene[top_right]);
    if (swap_2 == 1) std::swap(scene[bottom_left], scene[bottom_right]);
    set_latents(latents, {same, indicator_1, indicator_2, target_1, target_2, swap_1, swap_2});
  }

  int rule(const Scene& scene) const override {
    const bool top_swapped = scene[top_right].bank == kDigits, bottom_swapped = scene[bottom_left].bank == kDigits;
    const Tile& indicator_1 = scene[top_swapped ? top_right : top_left];
    const Tile& indicator_2 = scene[bottom_swapped ? bottom_left : bottom_right];
    const Tile& upper = scene[top_swapped ? top_left : top_right];
    const Tile& lower = scene[bottom_swapped ? bottom_right : bottom_left];
    return (indicator_1.class_index == indicator_2.class_index ? upper : lower).class_index;
  }

  int indicators_;
  int targets_;
};

EUREKA_TASK("digit-pair-anywhere", DigitPairAnywhere, IndicatorOptions,
            "images: as digit-pair, but digit and garment swap places within each row");

}  // namespace
}  // namespace eureka
