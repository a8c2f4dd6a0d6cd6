// How good the detector is: recall, false alarms and timing over a corpus of labeled curves.
//
//   DetectorReport report = check_detector(make_curve_corpus(2000, kHeldOutSeed));
//   print("{}", Lines{format_report(report)});
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stats/curve_corpus.h"
#include "stats/detector.h"

namespace eureka {

struct KindReport {
  std::string kind;
  bool is_positive = false;
  std::size_t curves = 0;
  std::size_t moments = 0;          // true ones
  std::size_t found = 0;            // true ones with a detected moment close by
  std::size_t false_alarms = 0;     // curves with a detected moment that is none
  std::size_t online_alarms = 0;    // curves in which such a moment was confirmed at some time during the run
  std::size_t under_way = 0;        // curves that end in a rise, short of half-way
  std::size_t said_under_way = 0;   // of these
  std::size_t too_early = 0;        // of these: a moment was reported already
  std::size_t false_under_way = 0;  // curves that end in no rise and are said to
  double recall() const { return moments ? static_cast<double>(found) / static_cast<double>(moments) : 1; }
};

struct TimingError {
  double median = 0;
  double percentile_90 = 0;
};

struct DetectorReport {
  std::size_t curves = 0;
  bool online = false;                 // whether the figures "online" and "while running" were asked for
  double recall = 0;                   // of all true moments
  double false_alarm_rate = 0;         // of the curves without a moment
  double online_false_alarm_rate = 0;  // the same for moments confirmed while the curve was still growing
  double extra_rate = 0;               // of the curves with moments: a detected moment that is none of them
  double under_way_recall = 0;         // of the curves that end in a rise, short of half-way
  double too_early_rate = 0;           // the same curves: taken for a moment already
  double false_under_way_rate = 0;     // of the curves that end in no rise
  TimingError error_of_budget;         // |detected - true| half-way step, as a share of the steps of the curve
  TimingError error_of_width;          // the same in 10-90% widths of the true rise
  std::vector<KindReport> kinds;       // in order of first appearance
};

// A detected moment is the true one if it is off by at most its 10-90% width, 3% of the curve or the distance of two
// evaluations, whichever is most. Where a curve ends past half-way of a rise, "under way" finds it too.
// Direction and plateau level are taken from each curve; everything else from `options`. `online` also asks for
// confirmed moments at some hundred times during each curve (slower).
DetectorReport check_detector(std::span<const LabeledCurve> corpus, const DetectorOptions& options = {},
                              bool online = false);

// A table for people, one line per kind and the totals below.
std::string format_report(const DetectorReport& report);

}  // namespace eureka
