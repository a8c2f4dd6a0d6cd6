#include "tasks/tile_bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace eureka {
namespace {

// Keys of equal images differ by rounding only; shapes as well.
constexpr float kKeyTolerance = 2e-5F, kShapeTolerance = 1e-3F;
constexpr int kKeyChannel = 1;  // green; of a gray set the only one

void decode_plain(const std::uint8_t* bytes, float* plane) {
  for (int i = 0; i < kTilePixels; ++i) plane[i] = static_cast<float>(bytes[i]) * (1.0F / 255);
}

void decode_pooled(const std::uint8_t* bytes, int pool, float* plane) {
  const std::int64_t side = kTileSide / pool;
  const float factor = 1.0F / static_cast<float>(255 * pool * pool);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      int sum = 0;
      for (int dy = 0; dy < pool; ++dy)
        for (int dx = 0; dx < pool; ++dx) sum += bytes[(y * pool + dy) * kTileSide + (x * pool + dx)];
      plane[y * side + x] = static_cast<float>(sum) * factor;
    }
}

}  // namespace

TileBank::TileBank(const std::string& data_set, std::vector<int> classes, Form form)
    : images_(open_data_set(data_set)), classes_(std::move(classes)), form_(form) {
  const ImageSetFacts& facts = images_->facts();
  for (const int label : classes_)
    if (facts.height != kTileSide || facts.width != kTileSide || label >= facts.classes() ||
        facts.count(Split::train, label) == 0 || facts.count(Split::test, label) == 0)
      throw Error(ErrorKind::input, fmt::format("the data set {} has no class {} of 28 x 28 images", data_set, label));
  planes_ = facts.channels == 3 && !form.gray ? 3 : 1;
  const auto pixels = static_cast<std::size_t>(side() * side());
  weights_.resize(pixels);
  RandomStream random(1, "tile key");
  for (float& weight : weights_) weight = random.uniform_float();

  std::vector<float> plane(pixels);
  for (int channel = 0; channel < planes_; ++channel) {
    std::vector<double> sum(pixels, 0);
    for (const int label : classes_) {
      const std::uint32_t count = std::min(facts.count(Split::train, label), 1000U);  // enough for a mean
      for (std::uint32_t i = 0; i < count; ++i) {
        decode(images_->image(Split::train, label, i), channel, plane.data());
        for (std::size_t p = 0; p < pixels; ++p) sum[p] += plane[p] / (count * static_cast<double>(classes_.size()));
      }
    }
    means_.emplace_back(sum.begin(), sum.end());
  }
}

const std::uint8_t* TileBank::draw(RandomStream& random, Split split, int class_index) const {
  const int label = classes_[static_cast<std::size_t>(class_index)];
  return images_->image(split, label, random.below(images_->facts().count(split, label)));
}

void TileBank::decode(const std::uint8_t* image, int channel, float* plane) const {
  const auto decode_one = [&](const std::uint8_t* bytes, float* into) {
    if (form_.pool == 1)
      decode_plain(bytes, into);
    else
      decode_pooled(bytes, form_.pool, into);
  };
  if (colored()) return decode_one(image + channel * kTilePixels, plane);
  decode_one(image, plane);
  if (images_->facts().channels == 1) return;
  float more[kTilePixels];
  for (const int other : {1, 2}) {
    decode_one(image + other * kTilePixels, more);
    for (int i = 0; i < side() * side(); ++i) plane[i] += more[i];
  }
  for (int i = 0; i < side() * side(); ++i) plane[i] *= 1.0F / 3;
}

float TileBank::key_of(const float* plane) const {
  double sum = 0, weighted = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    sum += plane[i];
    weighted += static_cast<double>(plane[i]) * weights_[i];
  }
  return sum > 0 ? static_cast<float>(weighted / sum) : 0.0F;
}

void TileBank::build_index() const {
  std::vector<float> plane(weights_.size());
  for (int index = 0; index < classes(); ++index) {
    const int label = classes_[static_cast<std::size_t>(index)];
    for (const Split split : kSplits)
      for (std::uint32_t i = 0; i < images_->facts().count(split, label); ++i) {
        const std::uint8_t* image = images_->image(split, label, i);
        decode(image, kKeyChannel, plane.data());
        index_.push_back({key_of(plane.data()), index, image});
      }
  }
  std::sort(index_.begin(), index_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

std::optional<TileBank::Match> TileBank::recognize(const float* plane, int channel) const {
  std::call_once(indexed_, [this] { build_index(); });
  if (colored() && channel != kKeyChannel) return std::nullopt;
  const float key = key_of(plane);
  const auto first = std::lower_bound(index_.begin(), index_.end(), key - kKeyTolerance,
                                      [](const Entry& entry, float value) { return entry.key < value; });
  const float total = std::accumulate(plane, plane + weights_.size(), 0.0F);
  const float largest = *std::max_element(plane, plane + weights_.size());
  if (!(total > 0 && largest > 0)) return std::nullopt;
  std::vector<float> candidate(weights_.size());
  std::optional<Match> best;
  for (auto entry = first; entry != index_.end() && entry->key <= key + kKeyTolerance; ++entry) {
    decode(entry->image, kKeyChannel, candidate.data());
    const float factor = total / std::accumulate(candidate.begin(), candidate.end(), 0.0F);
    float error = 0;
    for (std::size_t i = 0; i < candidate.size(); ++i)
      error = std::max(error, std::abs(plane[i] - factor * candidate[i]) / largest);
    if (error < kShapeTolerance && (!best || error < best->error)) best = {entry->class_index, entry->image, error};
  }
  return best;
}

}  // namespace eureka
