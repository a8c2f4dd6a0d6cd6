// Digit, garment / garment, digit, each in one of ten colors. If the digits are of the same class the label is the
// class of the upper right garment, else its color. The lower left garment means nothing.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits, kClothes };

Color mean_of(std::span<const Color> colors) {
  Color mean = {};
  for (const Color& color : colors)
    for (std::size_t c = 0; c < 3; ++c) mean[c] += color[c] / static_cast<float>(colors.size());
  return mean;
}

std::vector<std::string> numbered_colors(std::size_t count) {
  std::vector<std::string> names = ten_color_names();
  names.resize(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i) + " " + names[i];
  return names;
}

class ClassOrColor final : public TileTask {
 public:
  explicit ClassOrColor(const IndicatorOptions& options)
      : ClassOrColor(options, parse_classes(options.indicator_classes, "indicator_classes"),
                     parse_classes(options.target_classes, "target_classes")) {}

 private:
  // As many colors as classes, so that every label is of both kinds.
  ClassOrColor(const IndicatorOptions& options, const std::vector<int>& indicators, const std::vector<int>& targets)
      : TileTask("class-or-colour", options,
                 {{TileFamily::digits, indicators, mean_of(ten_colors().first(targets.size()))},
                  {TileFamily::clothes, targets, mean_of(ten_colors().first(targets.size()))}},
                 static_cast<int>(targets.size()),
                 {intermediate_latent("same", kNoYes),
                  intermediate_latent("indicator_1", class_names(TileFamily::digits, indicators)),
                  intermediate_latent("indicator_2", class_names(TileFamily::digits, indicators)),
                  target_latent("target_class", class_names(TileFamily::clothes, targets)),
                  target_latent("target_colour", numbered_colors(targets.size())),
                  irrelevant_latent("colour_1", numbered_colors(targets.size())),
                  irrelevant_latent("colour_2", numbered_colors(targets.size())),
                  irrelevant_latent("other_class", class_names(TileFamily::clothes, targets)),
                  irrelevant_latent("other_colour", numbered_colors(targets.size()))}),
        palette_(ten_colors().first(targets.size())),
        indicators_(static_cast<int>(indicators.size())),
        targets_(static_cast<int>(targets.size())) {
    refuse_gray(options, "class-or-colour");
  }

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [indicator_1, indicator_2] = draw_pair(random, same, indicators_);
    std::array<int, 4> colors{};
    for (int& color : colors) color = draw_class(random, targets_);
    const auto tile = [&](Place place, Bank bank, int class_index, TwoStepRole role) {
      scene[place] = {bank, class_index, palette_[static_cast<std::size_t>(colors[place])], role};
    };
    tile(top_left, kDigits, indicator_1, TwoStepRole::indicator);
    tile(top_right, kClothes, draw_class(random, targets_), TwoStepRole::target);
    tile(bottom_left, kClothes, draw_class(random, targets_), TwoStepRole::distractor);
    tile(bottom_right, kDigits, indicator_2, TwoStepRole::indicator);
    set_latents(latents, {same, indicator_1, indicator_2, scene[top_right].class_index, colors[top_right],
                          colors[top_left], colors[bottom_right], scene[bottom_left].class_index, colors[bottom_left]});
  }

  int rule(const Scene& scene) const override {
    const bool same = scene[top_left].class_index == scene[bottom_right].class_index;
    return same ? scene[top_right].class_index : nearest_color(scene[top_right].color, palette_);
  }

  std::span<const Color> palette_;
  int indicators_;
  int targets_;
};

EUREKA_TASK("class-or-colour", ClassOrColor, IndicatorOptions,
            "images: two digits of the same class or not decide whether a garment's class or its colour is the label");

}  // namespace
}  // namespace eureka
