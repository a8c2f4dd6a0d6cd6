#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace eureka {
namespace {

// splitmix64's finaliser: spreads a user's small seeds over all key bits.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
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
  // Box-Muller; the half-ulp shift keeps the logarithm finite.
  const float radius = std::sqrt(-2.0F * std::log((static_cast<float>(bits() >> 8) + 0.5F) * 0x1.0p-24F));
  const float angle = 2.0F * std::numbers::pi_v<float> * uniform_float();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

void RandomStream::fill_normal(std::span<float> out) {
  for (float& value : out) value = normal();
}

}  // namespace eureka
