// The laws of conditioning (docs/conditioning.md) beside what is measured: each report says what it tests and holds
// theory, measurement and their ratio in tables.
//
//   const ConditionReport report = rates_report(temperature_points({40, 12, 8, 1}, {4, 1, .25}, 11), {});
//   report.theorem;  report.tables.front().text();
//
// No number depends on `threads`, the cases that are measured at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/result_table.h"
#include "theory/conditioning_case.h"
#include "theory/race.h"

namespace eureka {

// A curve of base-10 logarithms; without points there is nothing to draw.
struct LogCurve {
  std::string title;
  std::vector<double> x, log10_values;
};

struct ConditionReport {
  std::string theorem;              // what is tested, in one line
  std::vector<ResultTable> tables;  // the first is the one for CSV
  LogCurve curve;
  std::string note;
};

// One teacher of a list over temperatures, or over planted (delta, q).
struct TeacherPoint {
  std::string name;
  theory::ConditioningCase the_case;
};
std::vector<TeacherPoint> temperature_points(const theory::TeacherSize& size, const std::vector<double>& temperatures,
                                             std::uint64_t seed);
std::vector<TeacherPoint> planted_points(const theory::TeacherSize& size,
                                         const std::vector<theory::Index>& extra_active,
                                         const std::vector<double>& deltas, std::uint64_t seed);

// The spectrum of the softmax Jacobian of one row, given the logarithms of its weights, against its bounds; second
// table: statistics of the row.
ConditionReport jacobian_report(const theory::Vector& log_weights);

struct RateSettings {
  double eps = 1e-8;
  double max_kappa = 1e5;  // beyond, only the prediction
  bool heavy_ball = false;
  std::size_t threads = 1;
};
// The rate of gradient descent at each point; the curve is that of the hardest one measured.
ConditionReport rates_report(const std::vector<TeacherPoint>& points, const RateSettings& settings);

// Condition numbers at every point, geometric means over `seeds` seeds; second table: the laws over all points. Shows
// the kinds that are named, all if none are. Requires: a point.
ConditionReport sweep_report(const std::vector<TeacherPoint>& points, const std::vector<theory::AttentionKind>& kinds,
                             int seeds, std::size_t threads);

// Optimizers to a fraction of the loss on every track; second table: condition numbers of the tracks.
ConditionReport race_report(const std::vector<theory::RaceTrack>& tracks, const std::vector<theory::Start>& starts,
                            const theory::RaceOptions& options, std::size_t threads);

// Exponents of the curvature between each two neighboring scales of the data.
ConditionReport scale_report(const theory::TeacherSize& size, const std::vector<double>& scales,
                             const std::vector<theory::AttentionKind>& kinds, std::uint64_t seed, std::size_t threads);

// Every table of docs/conditioning.md, measured anew; `progress` is told what comes next.
struct NamedTable {
  std::string name;
  ResultTable table;
};
std::vector<NamedTable> conditioning_tables(std::size_t threads, const std::function<void(const char*)>& progress);

}  // namespace eureka
