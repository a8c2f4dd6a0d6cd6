// Logs of real training runs whose moments are known, to measure the detector with.
//
//   for (const LabeledCurve& curve : real_curves(CurveHalf::held_out)) ...
//
// Runs of Eureka and of PyTorch, each evaluated densely and continued to its end; the dense curve gives the label, and
// the logs kept here are what a sparser evaluation or an earlier stop would have left of it. The detector's constants
// were chosen on the tuning half; all logs of one run are in the same half. docs/detector.md tells how they were made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stats/curve_corpus.h"

namespace eureka {

enum class CurveHalf { tuning, held_out };

std::vector<LabeledCurve> real_curves(CurveHalf half);

// The text of a file of src/stats/real_curves: one curve per line, with tabs between kind, source, direction, known
// plateau level, truth (none, moment, under_way, either), half-way step and 10-90% width of the rise, first step,
// distance of steps, and values. Throws Error(input) at `where` with the number of the line.
std::vector<LabeledCurve> parse_real_curves(std::string_view text, const std::string& where);

}  // namespace eureka
