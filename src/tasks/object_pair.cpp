// Two cars or birds, a digit and a garment, all four shuffled. If the objects are of the same class the label is the
// digit's class, else the garment's. Objects keep their own colors; digit and garment are blue or red, which means
// nothing.
#include "tasks/tile_task.h"

namespace eureka {
namespace {

enum Bank { kObjects, kDigits, kClothes };

// CIFAR-10's numbers.
const std::vector<int> kCarsAndBirds = {1, 2};

class ObjectPair final : public TileTask {
 public:
  explicit ObjectPair(const TileOptions& options)
      : ObjectPair(options, parse_classes(options.target_classes, "target_classes")) {}

 private:
  ObjectPair(const TileOptions& options, const std::vector<int>& targets)
      : TileTask("object-pair", options,
                 {{TileFamily::objects, kCarsAndBirds},
                  {TileFamily::digits, targets, kBlueOrRed},
                  {TileFamily::clothes, targets, kBlueOrRed}},
                 static_cast<int>(targets.size()),
                 {intermediate_latent("same", kNoYes),
                  intermediate_latent("object_1", class_names(TileFamily::objects, kCarsAndBirds)),
                  intermediate_latent("object_2", class_names(TileFamily::objects, kCarsAndBirds)),
                  target_latent("digit", class_names(TileFamily::digits, targets)),
                  target_latent("garment", class_names(TileFamily::clothes, targets)),
                  irrelevant_latent("digit_place", place_names()), irrelevant_latent("garment_place", place_names())}),
        targets_(static_cast<int>(targets.size())) {}

  void draw(RandomStream& random, Scene& scene, std::span<int> latents) const override {
    const bool same = first_counts(random);
    const auto [first, second] = draw_pair(random, same, 2);
    const int digit = draw_class(random, targets_), garment = draw_class(random, targets_);
    scene = {Tile{kObjects, first, kWhite, TwoStepRole::indicator},
             Tile{kObjects, second, kWhite, TwoStepRole::indicator},
             Tile{kDigits, digit, two_colors(draw_class(random, 2)), TwoStepRole::target},
             Tile{kClothes, garment, two_colors(draw_class(random, 2)), TwoStepRole::target}};
    random.shuffle(std::span<Tile>(scene));
    const Found found = find(scene);
    set_latents(latents, {same, scene[found.objects[0]].class_index, scene[found.objects[1]].class_index, digit,
                          garment, found.digit, found.garment});
  }

  int rule(const Scene& scene) const override {
    const Found found = find(scene);
    const bool same = scene[found.objects[0]].class_index == scene[found.objects[1]].class_index;
    return scene[same ? found.digit : found.garment].class_index;
  }

  // Digit and garment lie anywhere.
  std::size_t label_carrier(std::span<const int> latents) const override {
    const bool same = latents[0] == 1, digit_is_first = latents[5] < latents[6];
    return same == digit_is_first ? 0 : 1;
  }

  // Where things lie; objects in reading order.
  struct Found {
    std::array<Place, 2> objects = {top_left, top_left};
    Place digit = top_left, garment = top_left;
  };
  static Found find(const Scene& scene) {
    Found found;
    std::size_t objects = 0;
    for (const Place place : kPlaces) {
      if (scene[place].bank == kObjects && objects < 2) found.objects[objects++] = place;
      if (scene[place].bank == kDigits) found.digit = place;
      if (scene[place].bank == kClothes) found.garment = place;
    }
    return found;
  }

  int targets_;
};

EUREKA_TASK("object-pair", ObjectPair, TileOptions,
            "images: cars and birds of the same class or not decide between a digit and a garment, all shuffled");

}  // namespace
}  // namespace eureka
