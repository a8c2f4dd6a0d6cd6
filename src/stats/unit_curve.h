// A curve made ready for the search: without units, without spikes, with its broken line.
//
// Both axes are brought to 0..1 and better points up, so no threshold in the search depends on units, offsets or
// direction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/detector.h"
#include "stats/value_grain.h"

namespace eureka {

// How much of what the values do is taken for noise. Even: the same everywhere. Patient: in each neighborhood what it
// shows, and half as much again, since noise that wanders from one evaluation to the next breaks a plateau into pieces.
// None: the values as they are, for logs in which a plateau and a rise have a handful of evaluations each.
enum class Smoothing { even, patient, none };

struct UnitCurve {
  double origin = 0, span = 1;  // step = origin + span * x
  double worst = 0, scale = 1;  // value = worst + scale * v; the scale is negative where better is down
  std::vector<double> x;
  std::vector<double> v;           // without spikes; 0 the bad end of what learning covered, 1 its best
  std::vector<double> fit;         // the broken line through v
  std::vector<std::size_t> knots;  // first and last index of each of its pieces; every index of a short log
  double noise = 0;                // standard deviation of v about the fit
  std::vector<double> noise_at;    // the same about each point; more than `noise` where the curve is restless
  bool is_short_log = false;       // finished after few evaluations
  double one_sample = 0;           // of values that are shares of some samples: what one makes; 0: they are none
  Rounding rounding;               // of the values as they were given

  std::size_t size() const { return x.size(); }
  double step(double at) const { return origin + span * at; }
  double value(double level) const { return worst + scale * level; }
  double level(double value_there) const { return (value_there - worst) / scale; }
  // Standard deviation of a share of so many samples that lies at `level`, in levels: other samples would differ by it.
  double sampling_deviation(double level) const;

  // One unit in the last place of values written with few digits, in levels; 0 if they are not.
  double rounding_unit(double level) const;

  // Evaluations from index `first` on that come before `at`.
  std::size_t count_before(double at, std::size_t first = 0) const;
};

inline constexpr double kDivergedLevel = -4;  // anything worse, in ranges, is cut off there

// Requires: at least two points, steps strictly increasing, values finite. A finished curve of few points is looked at
// point by point; one that grows will have more.
UnitCurve make_unit_curve(std::span<const CurvePoint> points, Direction direction, bool finished,
                          Smoothing smoothing = Smoothing::even);

// Median, and robust standard deviation about it, of values[first..last].
double median(const std::vector<double>& values, std::size_t first, std::size_t last);
double spread(const std::vector<double>& values, std::size_t first, std::size_t last);

// Their plain standard deviation, which sees what is rare, too.
double deviation(const std::vector<double>& values, std::size_t first, std::size_t last);

// Where the curve gets past `level` for good between two indices: calling everything before it "below" and everything
// after it "above" is least wrong there (the minimum of the cumulated sum of v - level, each term at most `reach`).
// Interpolated between the two evaluations; exact without noise.
double crossing(const UnitCurve& curve, std::size_t first, std::size_t last, double level, double reach);

// The furthest index reached from `at`, forwards (+1) or backwards (-1), while the fit stays within a band of this
// width.
std::size_t walk_level(const std::vector<double>& fit, std::size_t at, int direction, double band);

}  // namespace eureka
