// Digit, garment / garment, digit, each in one of ten colours. If the digits are of the same class the label is the
// class of the upper right garment, else its colour. The lower left garment means nothing.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kDigits, kClothes };

Colour mean_of(std::span<const Colour> colours) {
  Colour mean = {};
  for (const Colour& colour : colours)
    for (std::size_t c = 0; c < 3; ++c) mean[c] += colour[c] / static_cast<float>(colours.size());
  return mean;
}

std::vector<std::string> numbered_colours(std::size_t count) {
  std::vector<std::string> names = ten_colour_names();
  names.resize(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i) + " " + names[i];
  return names;
}

class ClassOrColour final : public TileTask {
 public:
  explicit ClassOrColour(const IndicatorOptions& options)
      : ClassOrColour(options, parse_classes(options.indicator_classes, "indicator_classes"),
                      parse_classes(options.target_classes, "target_classes")) {}

 private:
  // As many colours as classes, so that every label is of both kinds.
  ClassOrColour(const IndicatorOptions& options, const std::vector<int>& indicators, const std::vector<int>& targets)
      : TileTask("class-or-colour", options,
                 {{TileFamily::digits, indicators, mean_of(ten_colours().first(targets.size()))},
                  {TileFamily::clothes, targets, mean_of(ten_colours().first(targets.size()))}},
                 static_cast<int>(targets.size()),
                 {intermediate_latent("same", kNoYes),
                  intermediate_latent("indicator_1", class_names(TileFamily::digits, indicators)),
                  intermediate_latent("indicator_2", class_names(TileFamily::digits, indicators)),
                  target_latent("target_class", class_names(TileFamily::clothes, targets)),
                  target_latent("target_colour", numbered_colours(targets.size())),
                  irrelevant_latent("colour_1", numbered_colours(targets.size())),
                  irrelevant_latent("colour_2", numbered_colours(targets.size())),
                  irrelevant_latent("other_class", class_names(TileFamily::clothes, targets)),
                  irrelevant_latent("other_colour", numbered_colours(targets.size()))}),
        palette_(ten_colours().first(targets.size())),
        indicators_(static_cast<int>(indicators.size())),
        targets_(static_cast<int>(targets.size())) {
    refuse_grey(options, "class-or-colour");
  }

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [indicator_1, indicator_2] = draw_pair(random, same, indicators_);
    std::array<int, 4> colours{};
    for (int& colour : colours) colour = draw_class(random, targets_);
    const auto tile = [&](Place place, Bank bank, int class_index, TwoStepRole role) {
      scene[place] = {bank, class_index, palette_[static_cast<std::size_t>(colours[place])], role};
    };
    tile(top_left, kDigits, indicator_1, TwoStepRole::indicator);
    tile(top_right, kClothes, draw_class(random, targets_), TwoStepRole::target);
    tile(bottom_left, kClothes, draw_class(random, targets_), TwoStepRole::distractor);
    tile(bottom_right, kDigits, indicator_2, TwoStepRole::indicator);
    set_latents(latents,
                {same, indicator_1, indicator_2, scene[top_right].class_index, colours[top_right], colours[top_left],
                 colours[bottom_right], scene[bottom_left].class_index, colours[bottom_left]});
  }

  int rule(const Scene& scene) const override {
    const bool same = scene[top_left].class_index == scene[bottom_right].class_index;
    return same ? scene[top_right].class_index : nearest_colour(scene[top_right].colour, palette_);
  }

  std::span<const Colour> palette_;
  int indicators_;
  int targets_;
};

EUREKA_TASK("class-or-colour", ClassOrColour, IndicatorOptions,
            "images: two digits of the same class or not decide whether a garment's class or its colour is the label");

}  // namespace
}  // namespace eureka
