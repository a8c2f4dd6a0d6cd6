// The detector's decision: which two corners of the broken line are the ends of a sudden rise.
//
// Every pair of corners is tried as (plateau ends, new level begins), measured, and held against the tests of
// accepted(); of those that pass and overlap, the highest and sharpest is kept. In words, a rise is a moment if it
//   - leaves a plateau: enough evaluations within a narrow band just before it; at the known level, if one is known;
//   - is sharp: narrow against that plateau, as far as the spacing of the evaluations lets one see;
//   - stands out of the noise, and of what the curve has gone up and down before;
//   - breaks new ground: most of it is better than everything before, since a recovery is no discovery;
//   - has held: the new level lasted, or the curve ended after the rise had slowed down;
//   - is one rise, without a long stop half-way.
// One that the end of the curve cuts off before it slowed down is under way: no moment yet, and not nothing.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "stats/detector.h"
#include "stats/unit_curve.h"

namespace eureka {

struct Rise {
  std::size_t plateau_first = 0, leaves = 0, arrives = 0;  // indices: plateau, its last point, first of the new level
  double from = 0, to = 0;
  double x10 = 0, x50 = 0, x90 = 0;
  double spacing = 0;  // mean distance of the evaluations in the rise
  double plateau_length = 0;
  double held_length = 0;
  std::size_t held = 0;       // evaluations on the new level
  std::size_t past_half = 0;  // evaluations from half-way on, until the curve is back below it or ends
  double over_noise = 0;      // height in standard deviations about the levels it joins

  double height() const { return to - from; }
  double width() const { return x90 - x10; }
  // What of the width is not due to the sampling: even a jump takes most of the way from one evaluation to the next.
  double seen_width() const { return std::max(0.0, width() - spacing); }
  double sharpness() const { return plateau_length / (plateau_length + width()); }
};

class RiseSearch {
 public:
  // `curve` and `options` must outlive it. `finished` admits rises cut short by the end of the curve.
  RiseSearch(const UnitCurve& curve, const DetectorOptions& options, bool finished);

  // In order, not overlapping.
  std::vector<Rise> all() const;

  // The rise going on at the end of a finished curve, beside those of all().
  std::optional<Rise> under_way(const std::vector<Rise>& moments) const;

  double score(const Rise& rise) const;

 private:
  // What is said of a rise at the end of a curve: that it has begun takes less to say than that it has arrived.
  enum class Claim { moment, under_way };

  Rise measure(std::size_t leaves, std::size_t arrives) const;
  bool is_sudden(const Rise& rise, Claim claim = Claim::moment) const;
  bool leaves_plateau(const Rise& rise) const;
  bool is_sharp(const Rise& rise) const;
  bool stands_out(const Rise& rise, Claim claim) const;
  bool is_off_the_plateau(const Rise& rise) const;
  bool breaks_new_ground(const Rise& rise) const;
  bool has_held(const Rise& rise) const;
  bool is_cut_off(const Rise& rise, Claim claim = Claim::moment) const;
  bool has_slowed_down(const Rise& rise) const;
  bool is_steepest_at_end(const Rise& rise) const;
  bool is_one_rise(const Rise& rise) const;

  const UnitCurve& curve_;
  const DetectorOptions& options_;
  bool finished_;
  double budget_ = 1;                 // in spans of the curve
  std::vector<double> best_before_;   // of the fit, up to and including each index
  std::vector<double> lost_before_;   // sum of all its steps back
  std::vector<double> worst_before_;  // of the values, a bad start included
  std::optional<double> known_level_;
  double known_floor_ = 0;
  double known_way_ = 0;  // from the level to the best there is, if both are known
  double trust_ = 1;      // less calm is asked for around a rise from a known level
};

}  // namespace eureka
