// Curves whose moments are known, to measure the detector with: real kinds of learning curve, made from random
// parameters.
//
//   for (const LabeledCurve& curve : make_curve_corpus(2000, kHeldOutSeed)) ...
//
// A curve is a function of (seed, index) alone, so a corpus can be repeated on any machine. The detector's constants
// were chosen on kDevelopmentSeed; what the documentation reports is kHeldOutSeed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/detector.h"

namespace eureka {

inline constexpr std::uint64_t kDevelopmentSeed = 1;
inline constexpr std::uint64_t kHeldOutSeed = 424242;

struct TrueMoment {
  double step = 0;   // where the noiseless rise is half-way
  double width = 0;  // its 10-90% width in steps
};

// Where a curve ends: not in a rise, or in one that is short of half-way or past it but short of its level.
enum class Ending { at_rest, before_half_way, past_half_way };

struct LabeledCurve {
  std::string kind;
  std::string source;        // of a real one: program, run and column
  bool is_positive = false;  // has moments; a positive kind always has
  Direction direction = Direction::up;
  std::optional<double> plateau_level;  // what the task would tell the detector
  std::vector<TrueMoment> moments;
  Ending ending = Ending::at_rest;  // short of half-way nothing but "under way" is right, past it a moment is too
  std::vector<CurvePoint> points;
};

// The kinds in turn, each with its own random parameters.
std::vector<LabeledCurve> make_curve_corpus(std::size_t count, std::uint64_t seed);
LabeledCurve make_labeled_curve(std::size_t index, std::uint64_t seed);
std::size_t curve_kind_count();

}  // namespace eureka
