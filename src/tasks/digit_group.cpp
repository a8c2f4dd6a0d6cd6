// Digit, garment / garment, digit. The digits 1 to 4 form two groups, {1, 2} and {3, 4}. If both are of one group the
// label is the upper garment's class, else the lower one's.
#include "base/error.h"
#include "tasks/tile_task.h"

namespace eureka {
namespace {

struct Options : TileOptions {
  std::string indicator_classes = "1234";

  template <class V>
  void visit(V& v) {
    TileOptions::visit(v);
    v("indicator_classes", indicator_classes,
      "the digits that serve as indicators; the first half is one group, the second the other");
  }
};

enum Bank { kDigits, kClothes };

class DigitGroup final : public TileTask {
 public:
  explicit DigitGroup(const Options& options)
      : DigitGroup(options, parse_classes(options.indicator_classes, "indicator_classes", 4),
                   parse_classes(options.target_classes, "target_classes")) {}

 private:
  DigitGroup(const Options& options, const std::vector<int>& indicators, const std::vector<int>& targets)
      : TileTask("digit-group", options, {{TileFamily::digits, indicators, kBlueOrRed}, {TileFamily::clothes, targets}},
                 static_cast<int>(targets.size()),
                 pair_latents(
                     "same_group", indicators, targets,
                     {irrelevant_latent("colour_1", {"blue", "red"}), irrelevant_latent("colour_2", {"blue", "red"})})),
        group_size_(static_cast<int>(indicators.size()) / 2),
        targets_(static_cast<int>(targets.size())) {
    if (indicators.size() % 2 != 0)
      throw Error(ErrorKind::config, "'task.indicator_classes' must be an even number of digits", {},
                  "half of them are one group, half the other");
  }

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [group_1, group_2] = draw_pair(random, same, 2);
    const int indicator_1 = group_1 * group_size_ + draw_class(random, group_size_);
    const int indicator_2 = group_2 * group_size_ + draw_class(random, group_size_);
    const int target_1 = draw_class(random, targets_), target_2 = draw_class(random, targets_);
    const int color_1 = draw_class(random, 2), color_2 = draw_class(random, 2);
    scene[top_left] = {kDigits, indicator_1, two_colors(color_1), TwoStepRole::indicator};
    scene[top_right] = {kClothes, target_1, kWhite, TwoStepRole::target};
    scene[bottom_left] = {kClothes, target_2, kWhite, TwoStepRole::target};
    scene[bottom_right] = {kDigits, indicator_2, two_colors(color_2), TwoStepRole::indicator};
    set_latents(latents, {same, indicator_1, indicator_2, target_1, target_2, color_1, color_2});
  }

  int rule(const Scene& scene) const override {
    const bool same = scene[top_left].class_index / group_size_ == scene[bottom_right].class_index / group_size_;
    return scene[same ? top_right : bottom_left].class_index;
  }

  int group_size_;
  int targets_;
};

EUREKA_TASK("digit-group", DigitGroup, Options,
            "images: two digits of the same group or not decide which of two garments carries the label");

}  // namespace
}  // namespace eureka
