#include "tasks/tile_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace eureka {
namespace {

constexpr float kCentreSpread = 0.33F;
constexpr float kNoiseCut = 3;  // deviations

std::string data_set_of(ImageData data, TileFamily family) {
  constexpr const char* kNames[2][3] = {{"glyph-digits", "glyph-clothes", "glyph-objects"},
                                        {"mnist", "fashion-mnist", "cifar-10"}};
  return kNames[static_cast<std::size_t>(data)][static_cast<std::size_t>(family)];
}

// One channel of a tile into its patches: pixel * gain, plus an offset per pixel if there is one. `Side` of the patch
// is known at compile time for the usual sizes (0: not), so that the inner loops are single vector instructions.
template <int Side>
void scatter(const float* plane, const float* offset, float gain, int side, int patch_side, std::ptrdiff_t token_floats,
             std::ptrdiff_t row_floats, float* tile) {
  const int patch = Side > 0 ? Side : patch_side;
  for (int top = 0; top < side; top += patch, tile += row_floats) {
    float* token = tile;
    for (int left = 0; left < side; left += patch, token += token_floats)
      for (int y = 0; y < patch; ++y) {
        const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(top + y) * side + left;
        float* to = token + static_cast<std::ptrdiff_t>(y) * patch;
        if (offset == nullptr)
          for (int x = 0; x < patch; ++x) to[x] = plane[from + x] * gain;
        else
          for (int x = 0; x < patch; ++x) to[x] = plane[from + x] * gain + offset[from + x];
      }
  }
}

using Scatter = decltype(&scatter<0>);

Scatter scatter_for(int patch) {
  switch (patch) {
    case 4:
      return scatter<4>;
    case 7:
      return scatter<7>;
    case 14:
      return scatter<14>;
    case 28:
      return scatter<28>;
    default:
      return scatter<0>;
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
  if (options_.patch > side() || side() % options_.patch != 0)
    throw Error(ErrorKind::config,
                fmt::format("'task.patch' = {} does not divide a tile of {} x {}", options_.patch, side(), side()), {},
                "patches lie within tiles, so that each has one role");
}

TaskShape TileTask::shape() const {
  const std::int64_t image_side = 2 * side(), patches = image_side / options_.patch;
  return {.tokens = patches * patches,
          .dimension = channels() * options_.patch * options_.patch,
          .classes = label_count_,
          .image = {channels(), image_side, image_side, options_.patch}};
}

double TileTask::plateau_accuracy() const {
  const double likelier = std::max(options_.top_right_probability, 1 - options_.top_right_probability);
  return likelier + (1 - likelier) / label_count_;
}

const TileTask::Banks& TileTask::banks() const {
  std::call_once(opened_, [this] {
    Banks opened;
    for (const BankSpec& spec : specs_)
      opened.push_back(std::make_unique<TileBank>(data_set_of(options_.data, spec.family), spec.classes,
                                                  TileBank::Form{options_.pool, options_.grey}));
    banks_ = std::move(opened);
  });
  return banks_;
}

std::size_t TileTask::first_token(Place place) const {
  const int per_side = side() / options_.patch;
  const int row = place / 2 * per_side, column = place % 2 * per_side;
  return static_cast<std::size_t>(row * 2 * per_side + column);
}

Colour TileTask::noisy(RandomStream& random, const Colour& colour) const {
  Colour result = colour;
  for (float& value : result)
    value += static_cast<float>(options_.colour_noise) * std::clamp(random.normal(), -kNoiseCut, kNoiseCut);
  return result;
}

void TileTask::sample(const SampleRequest& request, Batch& batch) const {
  const TaskShape sizes = shape();
  batch.resize(request.samples, sizes, latents_.size());
  const Split split = request.stream == "train" ? Split::train : Split::test;
  RandomStream random(request.seed, name_ + " " + request.stream, request.step);
  const std::size_t tokens = static_cast<std::size_t>(sizes.tokens);
  const std::size_t floats = tokens * static_cast<std::size_t>(sizes.dimension);
  for (std::size_t i = 0; i < static_cast<std::size_t>(request.samples); ++i) {
    Scene scene;
    draw(random, scene, std::span(batch.latents).subspan(i * latents_.size(), latents_.size()));
    batch.labels[i] = rule(scene);
    compose(random, split, scene, batch.inputs.data() + i * floats, batch.roles.data() + i * tokens);
  }
}

void TileTask::compose(RandomStream& random, Split split, const Scene& scene, float* image, TokenRole* roles) const {
  const std::size_t per_side = static_cast<std::size_t>(side() / options_.patch);
  const std::size_t token_floats = static_cast<std::size_t>(channels() * options_.patch * options_.patch);
  for (const Place place : kPlaces) {
    const Tile& tile = scene[place];
    const std::size_t first = first_token(place);
    for (std::size_t row = 0; row < per_side; ++row)
      std::fill_n(roles + first + row * 2 * per_side, per_side, tile.role);
    if (tile.bank < 0) {
      for (std::size_t row = 0; row < per_side; ++row)
        std::fill_n(image + (first + row * 2 * per_side) * token_floats, per_side * token_floats, 0.0F);
      continue;
    }
    const auto bank_index = static_cast<std::size_t>(tile.bank);
    const TileBank& bank = *banks()[bank_index];
    const std::uint8_t* pixels = bank.draw(random, split, tile.class_index);
    paint(bank, specs_[bank_index].mean_colour, pixels, noisy(random, tile.colour), image + first * token_floats);
  }
}

void TileTask::paint(const TileBank& bank, const Colour& mean_colour, const std::uint8_t* pixels, const Colour& colour,
                     float* tile) const {
  const int patch = options_.patch;
  const std::ptrdiff_t token_floats = static_cast<std::ptrdiff_t>(channels()) * patch * patch;
  const std::ptrdiff_t row_floats = 2 * side() / patch * token_floats;
  float plane[kTilePixels], offset[kTilePixels];
  for (int channel = 0; channel < channels(); ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    if (channel == 0 || bank.coloured()) bank.decode(pixels, channel, plane);
    float gain = options_.grey ? 1.0F : colour[c];
    if (options_.centre) {
      const float mean_gain = (options_.grey ? 1.0F : mean_colour[c]) / kCentreSpread;
      const std::vector<float>& mean = bank.mean(channel);
      for (std::size_t i = 0; i < mean.size(); ++i) offset[i] = -mean[i] * mean_gain;
      gain /= kCentreSpread;
    }
    scatter_for(patch)(plane, options_.centre ? offset : nullptr, gain, side(), patch, token_floats, row_floats,
                       tile + static_cast<std::ptrdiff_t>(channel) * patch * patch);
  }
}

// The tile's class and colour from its pixels alone: the image it is a multiple of, and the factor per channel.
Tile TileTask::recognise(const float* tile) const {
  const int patch = options_.patch;
  const auto pixels = static_cast<std::size_t>(side() * side());
  std::vector<std::vector<float>> planes(static_cast<std::size_t>(channels()), std::vector<float>(pixels));
  const std::size_t row_floats = static_cast<std::size_t>(2 * side() / patch * channels() * patch * patch);
  bool black = true;
  for (int y = 0; y < side(); ++y)
    for (int x = 0; x < side(); ++x)
      for (int c = 0; c < channels(); ++c) {
        const int token = x / patch, inside = (c * patch + y % patch) * patch + x % patch;
        const float value = tile[static_cast<std::size_t>(y / patch) * row_floats +
                                 static_cast<std::size_t>(token * channels() * patch * patch + inside)];
        planes[static_cast<std::size_t>(c)][static_cast<std::size_t>(y * side() + x)] = value;
        black = black && value == 0;
      }
  Tile found;
  if (black) return found;
  float least_error = 1;
  std::vector<float> grey(pixels), source(pixels);
  for (std::size_t b = 0; b < specs_.size(); ++b) {
    const TileBank& bank = *banks()[b];
    const auto undo_centre = [&](int channel) {
      const auto c = static_cast<std::size_t>(channel);
      const float mean_gain = options_.grey ? 1.0F : specs_[b].mean_colour[c];
      for (std::size_t i = 0; i < pixels; ++i)
        grey[i] = options_.centre ? planes[c][i] * kCentreSpread + bank.mean(channel)[i] * mean_gain : planes[c][i];
    };
    for (int channel = 0; channel < channels(); ++channel) {
      undo_centre(channel);
      const auto match = bank.recognise(grey.data(), channel);
      if (!match || match->error >= least_error) continue;
      least_error = match->error;
      found = {static_cast<int>(b), match->class_index};
      for (int c = 0; c < channels(); ++c) {
        undo_centre(c);
        bank.decode(match->image, c, source.data());
        double product = 0, square = 0;
        for (std::size_t i = 0; i < pixels; ++i) {
          product += static_cast<double>(grey[i]) * source[i];
          square += static_cast<double>(source[i]) * source[i];
        }
        found.colour[static_cast<std::size_t>(c)] = static_cast<float>(product / square);
      }
    }
  }
  return found;
}

std::vector<std::int64_t> TileTask::oracle(const Batch& batch) const {
  const TaskShape sizes = shape();
  const auto dimension = static_cast<std::size_t>(sizes.dimension);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < batch.samples; ++i) {
    const float* image = batch.inputs.data() + static_cast<std::size_t>(i * sizes.tokens) * dimension;
    Scene scene;
    for (const Place place : kPlaces) scene[place] = recognise(image + first_token(place) * dimension);
    labels.push_back(rule(scene));
  }
  return labels;
}

}  // namespace eureka
