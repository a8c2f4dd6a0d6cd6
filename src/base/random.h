// Counter-based randomness: Philox 4x32-10 (Salmon et al. 2011). A number is a pure function of (seed, stream, index),
// so there is no generator state to save and two runs with the same seed see the same data and the same initial
// weights.
//
//   RandomStream random(seed, "train-data", step);
//   float x = random.normal();
//   std::uint32_t c = random.below(10);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace eureka {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// One block of the generator: ten rounds over `counter` with `key`.
PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

// 64-bit FNV-1a; names of streams and parameters become counters through it.
constexpr std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

class RandomStream {
 public:
  // `index` tells apart members of one stream: the step of a batch, the sample of a dataset. At most 2^32 blocks each.
  RandomStream(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);

  std::uint32_t bits();
  void skip(std::uint64_t count);        // passes over the next `count` draws of bits()
  double uniform();                      // [0, 1), 53 bits
  float uniform_float();                 // [0, 1), 24 bits
  std::uint32_t below(std::uint32_t n);  // 0 .. n-1, without bias; n > 0
  bool chance(double probability);
  float normal();                          // N(0, 1)
  void fill_normal(std::span<float> out);  // N(0, 1), many at once: begins at the next whole block
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  PhiloxBlock counter_;
  PhiloxBlock block_{};
  unsigned used_ = 4;
  float spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace eureka
