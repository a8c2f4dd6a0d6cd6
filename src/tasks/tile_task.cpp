#include "tasks/tile_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace eureka {
namespace {

constexpr float kCenterSpread = 0.33F;
// The share of garments that a young network tells apart when it first rests: image-lab leaves its plateau as low as
// 0.42.
constexpr double kLeastSight = 0.7;
constexpr float kNoiseCut = 3;  // deviations

std::string data_set_of(ImageData data, TileFamily family) {
  constexpr const char* kNames[2][3] = {{"glyph-digits", "glyph-clothes", "glyph-objects"},
                                        {"mnist", "fashion-mnist", "cifar-10"}};
  return kNames[static_cast<std::size_t>(data)][static_cast<std::size_t>(family)];
}

// What becomes of one channel of a tile: pixel * gain, plus an offset per pixel if there is one.
struct ChannelPaint {
  const float* plane = nullptr;
  const float* offset = nullptr;
  float gain = 1;
};

// All channels of a tile into an image, channels last. Their number is known at compile time, so that the loop over
// pixels becomes vector instructions.
template <std::size_t kChannels>
void place(const std::array<ChannelPaint, 3>& paints, std::size_t side, std::size_t row_floats, float* tile) {
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x)
      for (std::size_t c = 0; c < kChannels; ++c) {
        const ChannelPaint& paint = paints[c];
        const float shift = paint.offset == nullptr ? 0.0F : paint.offset[y * side + x];
        tile[y * row_floats + x * kChannels + c] = paint.plane[y * side + x] * paint.gain + shift;
      }
}

}  // namespace

TileTask::TileTask(std::string name, const TileOptions& options, std::vector<BankSpec> banks, int label_count,
                   std::vector<Latent> latents)
    : name_(std::move(name)),
      options_(options),
      specs_(std::move(banks)),
      label_count_(label_count),
      latents_(std::move(latents)) {
  if (kTileSide % options_.pool != 0)
    throw Error(ErrorKind::config, fmt::format("'task.pool' must divide 28, not {}", options_.pool), {},
                "1, 2 and 4 do");
}

TaskShape TileTask::shape() const {
  return {.classes = label_count_, .image = {.height = 2 * side(), .width = 2 * side(), .channels = channels()}};
}

Metric TileTask::metric() const {
  const double likelier = std::max(options_.top_right_probability, 1 - options_.top_right_probability);
  const double plateau = likelier + (1 - likelier) / label_count_;
  return Metric::accuracy(plateau, kLeastSight * plateau);
}

const TileTask::Banks& TileTask::banks() const {
  std::call_once(opened_, [this] {
    std::vector<std::string> needed;
    for (const BankSpec& spec : specs_) needed.push_back(data_set_of(options_.data, spec.family));
    refuse_missing_data_sets(needed);
    Banks opened;
    for (const BankSpec& spec : specs_)
      opened.push_back(std::make_unique<TileBank>(data_set_of(options_.data, spec.family), spec.classes,
                                                  TileBank::Form{options_.pool, options_.gray}));
    banks_ = std::move(opened);
  });
  return banks_;
}

std::size_t TileTask::first_pixel(Place place) const {
  const auto tile_side = static_cast<std::size_t>(side());
  return place / 2 * tile_side * row_floats() + place % 2 * tile_side * static_cast<std::size_t>(channels());
}

Color TileTask::noisy(RandomStream& random, const Color& color) const {
  Color result = color;
  for (float& value : result)
    value += static_cast<float>(options_.color_noise) * std::clamp(random.normal(), -kNoiseCut, kNoiseCut);
  return result;
}

void TileTask::sample(const SampleRequest& request, Batch& batch) const {
  const TaskShape sizes = shape();
  batch.resize(request.samples, sizes, latents_.size());
  const Split split = request.stream == "train" ? Split::train : Split::test;
  RandomStream random(request.seed, name_ + " " + request.stream, request.step);
  batch.roles.resize(static_cast<std::size_t>(request.samples) * kPlaces.size());
  const auto floats = static_cast<std::size_t>(sizes.values());
  for (std::size_t i = 0; i < static_cast<std::size_t>(request.samples); ++i) {
    Scene scene;
    draw(random, scene, std::span(batch.latents).subspan(i * latents_.size(), latents_.size()));
    batch.labels[i] = rule(scene);
    for (const Place place : kPlaces)
      batch.roles[i * kPlaces.size() + place] = static_cast<std::uint8_t>(scene[place].role);
    compose(random, split, scene, batch.inputs.data() + i * floats);
  }
}

void TileTask::compose(RandomStream& random, Split split, const Scene& scene, float* image) const {
  for (const Place place : kPlaces) {
    const Tile& tile = scene[place];
    float* first = image + first_pixel(place);
    if (tile.bank < 0) {
      for (int y = 0; y < side(); ++y)
        std::fill_n(first + static_cast<std::size_t>(y) * row_floats(), row_floats() / 2, 0.0F);
      continue;
    }
    const auto bank_index = static_cast<std::size_t>(tile.bank);
    const TileBank& bank = *banks()[bank_index];
    const std::uint8_t* pixels = bank.draw(random, split, tile.class_index);
    paint(bank, specs_[bank_index].mean_color, pixels, noisy(random, tile.color), first);
  }
}

void TileTask::paint(const TileBank& bank, const Color& mean_color, const std::uint8_t* pixels, const Color& color,
                     float* tile) const {
  float planes[3][kTilePixels], offsets[3][kTilePixels];
  std::array<ChannelPaint, 3> paints;
  for (int channel = 0; channel < channels(); ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    const std::size_t plane = bank.colored() ? c : 0;
    if (plane == c) bank.decode(pixels, channel, planes[c]);
    paints[c] = {.plane = planes[plane], .gain = options_.gray ? 1.0F : color[c]};
    if (!options_.center) continue;
    const float mean_gain = (options_.gray ? 1.0F : mean_color[c]) / kCenterSpread;
    const std::vector<float>& mean = bank.mean(channel);
    for (std::size_t i = 0; i < mean.size(); ++i) offsets[c][i] = -mean[i] * mean_gain;
    paints[c].offset = offsets[c];
    paints[c].gain /= kCenterSpread;
  }
  (channels() == 1 ? place<1> : place<3>)(paints, static_cast<std::size_t>(side()), row_floats(), tile);
}

// The tile's class and color from its pixels alone: the image it is a multiple of, and the factor per channel.
Tile TileTask::recognize(const float* tile) const {
  const auto tile_side = static_cast<std::size_t>(side()), count = static_cast<std::size_t>(channels());
  const std::size_t pixels = tile_side * tile_side;
  std::vector<std::vector<float>> planes(count, std::vector<float>(pixels));
  bool black = true;
  for (std::size_t y = 0; y < tile_side; ++y)
    for (std::size_t x = 0; x < tile_side; ++x)
      for (std::size_t c = 0; c < count; ++c) {
        const float value = tile[y * row_floats() + x * count + c];
        planes[c][y * tile_side + x] = value;
        black = black && value == 0;
      }
  Tile found;
  if (black) return found;
  float least_error = 1;
  std::vector<float> gray(pixels), source(pixels);
  for (std::size_t b = 0; b < specs_.size(); ++b) {
    const TileBank& bank = *banks()[b];
    const auto undo_center = [&](int channel) {
      const auto c = static_cast<std::size_t>(channel);
      const float mean_gain = options_.gray ? 1.0F : specs_[b].mean_color[c];
      for (std::size_t i = 0; i < pixels; ++i)
        gray[i] = options_.center ? planes[c][i] * kCenterSpread + bank.mean(channel)[i] * mean_gain : planes[c][i];
    };
    for (int channel = 0; channel < channels(); ++channel) {
      undo_center(channel);
      const auto match = bank.recognize(gray.data(), channel);
      if (!match || match->error >= least_error) continue;
      least_error = match->error;
      found = {static_cast<int>(b), match->class_index};
      for (int c = 0; c < channels(); ++c) {
        undo_center(c);
        bank.decode(match->image, c, source.data());
        double product = 0, square = 0;
        for (std::size_t i = 0; i < pixels; ++i) {
          product += static_cast<double>(gray[i]) * source[i];
          square += static_cast<double>(source[i]) * source[i];
        }
        found.color[static_cast<std::size_t>(c)] = static_cast<float>(product / square);
      }
    }
  }
  return found;
}

std::vector<std::int64_t> TileTask::keys_of_answer(const Batch& batch, std::int64_t answer) const {
  const auto first = static_cast<std::size_t>(answer) * kPlaces.size();
  std::vector<std::int64_t> keys, targets;
  for (const Place place : kPlaces) {
    const auto role = static_cast<TwoStepRole>(batch.roles[first + place]);
    if (role == TwoStepRole::indicator) keys.push_back(place);
    if (role == TwoStepRole::target) targets.push_back(place);
  }
  if (keys.empty()) return targets;
  const std::size_t carrier = label_carrier(
      std::span(batch.latents).subspan(static_cast<std::size_t>(answer) * latents_.size(), latents_.size()));
  keys.push_back(targets[std::min(carrier, targets.size() - 1)]);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::int64_t> TileTask::oracle(const Batch& batch) const {
  const TaskShape sizes = shape();
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < batch.samples; ++i) {
    const float* image = batch.inputs.data() + static_cast<std::size_t>(i * sizes.values());
    Scene scene;
    for (const Place place : kPlaces) scene[place] = recognize(image + first_pixel(place));
    labels.push_back(rule(scene));
  }
  return labels;
}

}  // namespace eureka
