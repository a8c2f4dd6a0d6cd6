// The images one kind of tile is drawn from: some classes of a data set, pooled, and what the oracle needs to know them
// again.
//
//   TileBank digits("mnist", {1, 2}, {.pool = 2});
//   const std::uint8_t* image = digits.draw(random, Split::train, 0);     an image of class 1
//   digits.decode(image, 0, plane);                                       14 x 14 floats in 0..1
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/data_sets.h"

namespace eureka {

inline constexpr std::int64_t kTileSide = 28;  // before pooling
inline constexpr std::int64_t kTilePixels = kTileSide * kTileSide;

class TileBank {
 public:
  struct Form {
    int pool = 1;       // averages squares of this side
    bool gray = false;  // one channel, whatever the data set has
  };

  // `classes` are numbers of the data set; everywhere else a class is an index into them. Opens the data set.
  TileBank(const std::string& data_set, std::vector<int> classes, Form form);

  int classes() const { return static_cast<int>(classes_.size()); }
  std::int64_t side() const { return kTileSide / form_.pool; }
  bool colored() const { return planes_ == 3; }  // has colors of its own

  const std::uint8_t* draw(RandomStream& random, Split split, int class_index) const;

  // Pixels of one channel, side() x side() values in 0..1.
  void decode(const std::uint8_t* image, int channel, float* plane) const;

  // Mean over the training images of all classes, equally weighted; side() x side().
  const std::vector<float>& mean(int channel) const {
    return means_[colored() ? static_cast<std::size_t>(channel) : 0];
  }

  struct Match {
    int class_index = 0;
    const std::uint8_t* image = nullptr;
    float error = 0;  // of the shape; 0 when it is this very image
  };
  // The image, of either split, that is `plane` but for a factor; nothing when there is none. Looks at channel
  // `channel`. The first call builds an index of all images.
  std::optional<Match> recognize(const float* plane, int channel) const;

 private:
  struct Entry {
    float key;
    int class_index;
    const std::uint8_t* image;
  };
  void build_index() const;
  // A number that is the same for all multiples of a plane and differs between most planes.
  float key_of(const float* plane) const;

  std::shared_ptr<const ImageSet> images_;
  std::vector<int> classes_;
  Form form_;
  int planes_ = 1;
  std::vector<std::vector<float>> means_;
  std::vector<float> weights_;  // of the key
  mutable std::once_flag indexed_;
  mutable std::vector<Entry> index_;  // by key
};

}  // namespace eureka
