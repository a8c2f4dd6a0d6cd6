// Finds plateaus and sudden rises (Eureka-moments) in one noisy curve.
//
//   MomentDetector detector({.direction = Direction::up, .plateau_level = 0.55});
//   for (auto [step, accuracy] : curve) detector.add(step, accuracy);
//   detector.finish();
//   for (const Moment& moment : detector.moments()) ...
//
// Requires: steps finite and strictly increasing (Error otherwise). A non-finite value ends the curve: everything
//           before it still counts, everything after it is ignored.
// Ensures:  memory bounded by options.window whatever the length; add() is O(1) amortized; feeding the same curve point
//           by point or at once gives the same moments, however often they are asked for in between; shifting or
//           scaling either axis shifts or scales the result and changes nothing else.
//
// How it decides is told in docs/detector.md.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stats/curve_window.h"

namespace eureka {

enum class Direction { up, down };  // where better is: accuracy up, loss down

struct DetectorOptions {
  Direction direction = Direction::up;
  // The level the task is known to stall at. The moment is then the rise away from it, and no other plateau counts.
  std::optional<double> plateau_level = {};
  // How far below it (above, if better is down) the plateau may lie: of a model that does not yet see perfectly.
  std::optional<double> plateau_floor = {};
  // What can be reached at all, if known: the end of the task's metric that the plateau is measured against.
  std::optional<double> best_level = {};
  // The steps the run is planned to last, if known: a delayed start is then told from a plateau while the run is young.
  std::optional<double> budget = {};
  std::size_t min_plateau = 5;  // evaluations on the plateau before a rise: fewer is a breath on the way up
  std::size_t hold = 4;         // evaluations on the new level before a rise is confirmed; 3 or fewer is a spike
  double min_rise = 0.135;      // of the curve's range from its start to its best; from a known level 0.2 at least
  // 10-90% width of the rise, less one distance of evaluations, at most: in lengths of the plateau before it (twice
  // that on a known level). Wider is gradual learning.
  double max_width_of_plateau = 1;
  std::size_t window = 512;  // points kept; longer curves are averaged down to it
};

struct Plateau {
  double start = 0;
  double end = 0;
  double level = 0;
};

// What a sudden rise is. In grokking the training curve was solved long before; only who is given both curves can tell.
enum class RiseKind { moment, grokking };
constexpr auto enum_names(RiseKind) { return std::array{"moment", "grokking"}; }

struct Moment {
  double step = 0;        // half-way between the levels, interpolated between evaluations
  double rise_start = 0;  // 10% of the way
  double rise_end = 0;    // 90% of the way
  double from = 0;        // level of the plateau before
  double to = 0;          // level after
  double score = 0;       // 0 to 1: how sure; grows with jump over noise, sharpness, and evaluations on the new level
  Plateau plateau;        // the plateau it leaves
};

// The fast way from where the curve starts to the known plateau level: what is easy has been learned, and no moment.
struct FirstRise {
  double step = 0;  // half-way
  double rise_start = 0;
  double rise_end = 0;
  double from = 0;
  double to = 0;  // level of the plateau it reaches
};

// A sudden rise that had begun when the curve ended: whether and where it arrives, nobody knows yet.
struct UnderWay {
  double rise_start = 0;  // 10% of the way seen
  double from = 0;        // level of the plateau before
  double reached = 0;     // where the curve ends
  Plateau plateau;        // the plateau it leaves
  RiseKind kind = RiseKind::moment;
};

struct Findings {
  std::vector<Plateau> plateaus;        // in order, not overlapping
  std::vector<Moment> moments;          // in order
  std::vector<Moment> groks;            // in order: rises that follow training late; none is a moment
  std::optional<FirstRise> first_rise;  // only with a known plateau level
  std::optional<UnderWay> under_way;    // only in a finished curve
};

class MomentDetector {
 public:
  explicit MomentDetector(DetectorOptions options = {});

  void add(double step, double value);

  // The same metric on the training samples, where it is known, at its own steps. Without it a late rise of validation
  // alone (grokking) is taken for a moment.
  void add_training(double step, double value);

  // No more will come: a rise that has gone most of its way counts even though its new level has not been seen to hold.
  // After it add() is ignored. A non-finite value finishes the curve too.
  void finish() { finished_ = true; }
  bool finished() const { return finished_; }

  // Before finish() only confirmed moments, those whose new level has held: fit for stopping a run. Computed when
  // asked, in time that depends on the window alone, and kept until the next add().
  const std::vector<Moment>& moments() const { return findings().moments; }
  const std::vector<Plateau>& plateaus() const { return findings().plateaus; }
  const Findings& findings() const;

 private:
  DetectorOptions options_;
  CurveWindow window_;
  CurveWindow training_;
  std::optional<double> last_step_;
  bool finished_ = false;
  mutable std::optional<Findings> findings_;
  mutable bool findings_are_final_ = false;
};

// Points before the first whose value is no number or so large that the curve has diverged: the rest is ignored.
std::size_t usable_points(std::span<const CurvePoint> curve);

// The whole curve at once: add() for each point, then finish().
Findings detect(std::span<const CurvePoint> curve, const DetectorOptions& options = {});

// The same with the training curve, whose steps may be others.
Findings detect(std::span<const CurvePoint> curve, std::span<const CurvePoint> training,
                const DetectorOptions& options);

// From the name of a column ("val/accuracy" up, "train_loss" down); nothing if it says neither.
std::optional<Direction> guess_direction(std::string_view column);

// From the name if it tells, else from where the curve went on the whole: learning is assumed to have helped.
Direction guess_direction(std::string_view column, std::span<const CurvePoint> curve);

}  // namespace eureka
