// No indicators: two garments, one per row, the other two tiles black. If they lie in the same column the label is the
// upper one's class, else the lower one's.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kClothes };

class Position final : public TileTask {
 public:
  explicit Position(const TileOptions& options)
      : Position(options, parse_classes(options.target_classes, "target_classes")) {}

  std::vector<Role> roles() const override {
    return {{"target", "may carry the label; the places of both decide which one does", true},
            {"distractor", "means nothing", false}};
  }

 private:
  Position(const TileOptions& options, const std::vector<int>& targets)
      : TileTask("position", options, {{TileFamily::clothes, targets}}, static_cast<int>(targets.size()),
                 {intermediate_latent("same_column", kNoYes), intermediate_latent("column_1", {"left", "right"}),
                  intermediate_latent("column_2", {"left", "right"}),
                  target_latent("target_1", class_names(TileFamily::clothes, targets)),
                  target_latent("target_2", class_names(TileFamily::clothes, targets))}),
        targets_(static_cast<int>(targets.size())) {}

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [column_1, column_2] = draw_pair(random, same, 2);
    const int target_1 = draw_class(random, targets_), target_2 = draw_class(random, targets_);
    scene = {};
    scene[column_1 == 0 ? top_left : top_right] = {kClothes, target_1, kWhite, TwoStepRole::target};
    scene[column_2 == 0 ? bottom_left : bottom_right] = {kClothes, target_2, kWhite, TwoStepRole::target};
    set_latents(latents, {same, column_1, column_2, target_1, target_2});
  }

  int rule(const Scene& scene) const override {
    const bool upper_left = scene[top_left].bank == kClothes, lower_left = scene[bottom_left].bank == kClothes;
    const Tile& upper = scene[upper_left ? top_left : top_right];
    const Tile& lower = scene[lower_left ? bottom_left : bottom_right];
    return (upper_left == lower_left ? upper : lower).class_index;
  }

  int targets_;
};

EUREKA_TASK("position", Position, TileOptions,
            "images: two garments in the same column or not decide which of them carries the label");

}  // namespace
}  // namespace eureka
