// The runs of one arm as one curve: their median, and between which values the middle half of them lies.
//
//   GroupCurve curve = group_curve(runs, GroupBy::step);
#pragma once

#include <string>
#include <vector>

#include "figure/chart.h"
#include "report/run_data.h"

namespace eureka {

struct RunGroup {
  std::string name;
  std::vector<const RunData*> runs;
};

struct GroupCurve {
  std::vector<figure::Point> median;
  std::vector<figure::BandPoint> quartiles;  // none for fewer than three runs
  std::size_t runs = 0;                      // that are in it
};

enum class GroupBy { step, own_moment };

// At the steps the runs have, or evenly through them where these are many. A run that ended counts with its last value
// from then on: else the median would fall back to the runs that never learned. By their own moments, runs without one
// are left out.
GroupCurve group_curve(const RunGroup& group, GroupBy by);

// One run's curve by step, or by steps after its moment; empty without a moment.
std::vector<figure::Point> curve_of(const RunData& run, GroupBy by);

}  // namespace eureka
