#include "base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace eureka {
namespace {

// Of Philox 4x32 (Salmon et al. 2011).
constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;

// splitmix64's finalizer: spreads a user's small seeds over all key bits.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Box-Muller on the bits of two draws. Own polynomials instead of libm: the same bits on every machine, and loops over
// it become vector code.
struct NormalPair {
  float first, second;
};

inline NormalPair normal_pair(std::uint32_t radius_bits, std::uint32_t angle_bits) {
  // ln u for u = (k + 1/2) / 2^24, never 0: exponent and mantissa apart, then the series in (m - 1) / (m + 1).
  const float u = (static_cast<float>(static_cast<std::int32_t>(radius_bits >> 8)) + 0.5F) * 0x1.0p-24F;
  const auto raw = std::bit_cast<std::int32_t>(u);
  // Mantissa in [sqrt(1/2), sqrt(2)): the offset moves the cut between exponents there.
  const std::int32_t exponent = (raw - 0x3f3504f3) >> 23;
  const float mantissa = std::bit_cast<float>(raw - (exponent << 23));
  const float s = (mantissa - 1) / (mantissa + 1);
  const float s2 = s * s;
  const float log_u = static_cast<float>(exponent) * std::numbers::ln2_v<float> +
                      2 * s * (1 + s2 * (1.0F / 3 + s2 * (0.2F + s2 * (1.0F / 7 + s2 * (1.0F / 9)))));
  const float radius = std::sqrt(std::max(0.0F, -2 * log_u));
  // Angle = (quadrant + r) quarter turns, |r| <= 1/2; both are exact.
  const auto turn = static_cast<std::int32_t>(angle_bits >> 8);
  const std::int32_t quadrant = (turn + (1 << 21)) >> 22;
  const float r = static_cast<float>(turn - (quadrant << 22)) * 0x1.0p-22F;
  const float x = r * (std::numbers::pi_v<float> / 2);
  const float x2 = x * x;
  const float sine = x * (1 + x2 * (-1.0F / 6 + x2 * (1.0F / 120 + x2 * (-1.0F / 5040 + x2 * (1.0F / 362880)))));
  const float cosine = 1 + x2 * (-0.5F + x2 * (1.0F / 24 + x2 * (-1.0F / 720 + x2 * (1.0F / 40320))));
  const bool swapped = (quadrant & 1) != 0;
  const float along = swapped ? sine : cosine;
  const float across = swapped ? cosine : sine;
  const float first = ((quadrant + 1) & 2) != 0 ? -along : along;
  const float second = (quadrant & 2) != 0 ? -across : across;
  return {radius * first, radius * second};
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kKeyStep0;
    key[1] += kKeyStep1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view stream, std::uint64_t index) {
  const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15U) ^ hash_name(stream);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  counter_ = {0, 0, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)};
}

void RandomStream::refill() {
  block_ = philox(counter_, key_);
  ++counter_[0];
  EUREKA_CHECK(counter_[0] != 0, "random stream exhausted");
  used_ = 0;
}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) refill();
  return block_[used_++];
}

void RandomStream::skip(std::uint64_t count) {
  const std::uint64_t left = 4 - used_;
  if (count <= left) {
    used_ += static_cast<unsigned>(count);
    return;
  }
  count -= left;
  EUREKA_CHECK(count / 4 < 0xFFFFFFFFU - counter_[0], "random stream exhausted");
  counter_[0] += static_cast<std::uint32_t>(count / 4);
  used_ = 4;
  if (count % 4 != 0) {
    refill();
    used_ = static_cast<unsigned>(count % 4);
  }
}

double RandomStream::uniform() {
  const std::uint64_t high = bits();
  return static_cast<double>(((high << 32) | bits()) >> 11) * 0x1.0p-53;
}

float RandomStream::uniform_float() { return static_cast<float>(bits() >> 8) * 0x1.0p-24F; }

std::uint32_t RandomStream::below(std::uint32_t n) {
  EUREKA_CHECK(n > 0, "below(0)");
  // Lemire's multiply-and-reject: no modulo bias.
  std::uint64_t product = std::uint64_t{bits()} * n;
  const std::uint32_t threshold = (0U - n) % n;
  while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * n;
  return static_cast<std::uint32_t>(product >> 32);
}

bool RandomStream::chance(double probability) { return uniform() < probability; }

float RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const std::uint32_t radius_bits = bits();
  const NormalPair pair = normal_pair(radius_bits, bits());
  spare_normal_ = pair.second;
  has_spare_ = true;
  return pair.first;
}

void RandomStream::fill_normal(std::span<float> out) {
  used_ = 4;
  has_spare_ = false;
  constexpr std::size_t kBlocks = 64;
  while (!out.empty()) {
    // Columns of counters, so that the ten rounds run over all blocks at once.
    std::uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
    const std::size_t blocks = std::min(kBlocks, (out.size() + 3) / 4);
    EUREKA_CHECK(counter_[0] < 0xFFFFFFFFU - kBlocks, "random stream exhausted");
    for (std::size_t i = 0; i < kBlocks; ++i) {
      c0[i] = counter_[0] + static_cast<std::uint32_t>(i);
      c1[i] = counter_[1];
      c2[i] = counter_[2];
      c3[i] = counter_[3];
    }
    std::array<std::uint32_t, 2> key = key_;
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < kBlocks; ++i) {
        const std::uint64_t product0 = std::uint64_t{kMultiplier0} * c0[i];
        const std::uint64_t product1 = std::uint64_t{kMultiplier1} * c2[i];
        c0[i] = static_cast<std::uint32_t>(product1 >> 32) ^ c1[i] ^ key[0];
        c1[i] = static_cast<std::uint32_t>(product1);
        c2[i] = static_cast<std::uint32_t>(product0 >> 32) ^ c3[i] ^ key[1];
        c3[i] = static_cast<std::uint32_t>(product0);
      }
      key[0] += kKeyStep0;
      key[1] += kKeyStep1;
    }
    float normals[4 * kBlocks];
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const NormalPair low = normal_pair(c0[i], c1[i]);
      const NormalPair high = normal_pair(c2[i], c3[i]);
      normals[4 * i] = low.first;
      normals[4 * i + 1] = low.second;
      normals[4 * i + 2] = high.first;
      normals[4 * i + 3] = high.second;
    }
    const std::size_t count = std::min(out.size(), 4 * blocks);
    std::copy_n(normals, count, out.begin());
    out = out.subspan(count);
    counter_[0] += static_cast<std::uint32_t>(blocks);
  }
}

}  // namespace eureka
