// Condition numbers over planted (q, delta) or over temperatures, for every attention kind.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "report/condition_report.h"
#include "theory/cases.h"

namespace eureka {
namespace {

using theory::ConditioningCase;
using theory::ConditioningResult;
using theory::Index;

std::vector<ResultColumn> columns_of(bool planted) {
  std::vector<ResultColumn> columns;
  if (planted)
    columns = {{"delta", "delta", "{:.0e}"}, {"q", "q", "{:.0f}"}, {"small_per_row", "small/row", "{:.1f}"}};
  else
    columns = {{"tau", "tau", "{:g}"}, {"mean_largest_weight", "a_max", "{:.3f}"}, {"kappa_row", "kappa(J)", "{:.2e}"}};
  for (const theory::AttentionKind kind : theory::kAttentionKinds)
    columns.push_back({theory::name_of(kind), theory::name_of(kind), "{:.3g}"});
  columns.push_back({"kappa_fisher", "F^-1 GN", "{:.3g}"});
  columns.push_back({"kappa_gram", "G2^-1 GN", "{:.3g}"});
  columns.push_back({"kappa_across", "across w*", "{:.3g}"});
  columns.push_back({"alignment", "cos", "{:.2f}"});
  columns.push_back({"largest", "lam_max", "{:.1e}"});
  columns.push_back({"smallest", "lam_min", "{:.1e}"});
  if (planted) {
    columns.push_back({"starvation_bound", "T1 bound", "{:.1e}"});
    columns.push_back({"smallest_over_bound", "ratio", "{:.3f}"});
    columns.push_back({"gap", "gap", "{:.3g}"});
  }
  return columns;
}

std::vector<ResultCell> row_of(const ConditioningCase& c, const ConditioningResult& r) {
  std::vector<ResultCell> cells;
  if (c.planted)
    cells = {c.planted->delta, static_cast<double>(c.planted->extra_active), r.small_per_row};
  else
    cells = {c.temperature, r.mean_largest_weight, std::exp(r.median_log_kappa_row)};
  for (const double kappa : r.kappa) cells.emplace_back(kappa);
  for (const double value : {r.kappa_fisher, r.kappa_gram, r.kappa_across, r.alignment, r.largest, r.smallest})
    cells.emplace_back(value);
  if (c.planted)
    for (const double value : {r.starvation_bound, r.smallest / r.starvation_bound, r.gap}) cells.emplace_back(value);
  return cells;
}

// Between neighboring deltas of the same q: decades of kappa per decade of 1/delta.
void add_slopes(const std::vector<TeacherPoint>& points, const std::vector<ConditioningResult>& means,
                ResultTable& laws) {
  std::map<Index, std::size_t> last;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const theory::Planted planted = *points[i].the_case.planted;
    const auto [before, first] = last.try_emplace(planted.extra_active, i);
    if (!first) {
      const std::size_t j = before->second;
      const double decades = std::log10(points[j].the_case.planted->delta / planted.delta);
      const bool starved = planted.extra_active > 0 && planted.extra_active < points[i].the_case.size.features;
      const bool one_hot = planted.extra_active == 0;
      const auto add = [&](const char* name, double from, double to, double theory) {
        if (!starved && !one_hot) return;
        const double slope = std::log10(to / from) / decades;
        laws.add_row({fmt::format("{}, q {}, delta {:g} to {:g}", name, planted.extra_active,
                                  points[j].the_case.planted->delta, planted.delta),
                      one_hot ? "q = 0: no dependence" : "T1 to T3", one_hot ? 0.0 : theory, slope,
                      one_hot || theory == 0 ? ResultCell() : ResultCell(slope / theory)});
      };
      add("kappa(GN)", means[j].kappa[0], means[i].kappa[0], 2);
      add("kappa(F^-1 GN)", means[j].kappa_fisher, means[i].kappa_fisher, 1);
      add("kappa(G2^-1 GN)", means[j].kappa_gram, means[i].kappa_gram, 0);
    }
    last[planted.extra_active] = i;
  }
}

void add_temperature_laws(const std::vector<TeacherPoint>& points, const std::vector<ConditioningResult>& means,
                          ResultTable& laws) {
  const auto unchanged = [&](const char* name, const char* law, theory::AttentionKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    const double ratio = means.back().kappa[index] / means.front().kappa[index];
    laws.add_row({fmt::format("{}: kappa({}) / kappa({})", name, points.back().name, points.front().name), law, 1.0,
                  ratio, ratio});
  };
  unchanged("norm", "scale of logits does not enter", theory::AttentionKind::norm);
  unchanged("linear", "scale of logits does not enter", theory::AttentionKind::linear);
}

// log10 kappa of softmax: over log10(1/tau), or over q at the last delta.
LogCurve sweep_curve(const std::vector<TeacherPoint>& points, const ResultTable& table) {
  constexpr std::size_t kSoftmax = 3;  // after the three columns that name the point
  std::map<double, double> curve;
  const bool planted = points.back().the_case.planted.has_value();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ConditioningCase& c = points[i].the_case;
    if (planted && c.planted->delta != points.back().the_case.planted->delta) continue;
    const double x = planted ? static_cast<double>(c.planted->extra_active) : -std::log10(c.temperature);
    curve[x] = std::log10(std::get<double>(table.rows()[i][kSoftmax]));
  }
  if (curve.size() < 5) return {};
  LogCurve result;
  result.title = planted ? fmt::format("log10 kappa of softmax by q, delta {:g}", points.back().the_case.planted->delta)
                         : "log10 kappa of softmax by log10(1/tau)";
  for (const auto& [at, value] : curve) {
    result.x.push_back(at);
    result.log10_values.push_back(value);
  }
  return result;
}

// Of every point, over its seeds.
std::vector<ConditioningResult> means_of(const std::vector<TeacherPoint>& points, int seeds, std::size_t threads) {
  std::vector<ConditioningCase> cases;
  for (const TeacherPoint& point : points)
    for (int i = 0; i < seeds; ++i) {
      cases.push_back(point.the_case);
      cases.back().seed += static_cast<std::uint64_t>(i);
    }
  const std::vector<ConditioningResult> all = theory::for_cases(threads, cases, theory::measure_conditioning);
  std::vector<ConditioningResult> means;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i) * seeds;
    means.push_back(theory::mean_of({first, first + seeds}));
  }
  return means;
}

}  // namespace

ConditionReport sweep_report(const std::vector<TeacherPoint>& points, const std::vector<theory::AttentionKind>& kinds,
                             int seeds, std::size_t threads) {
  EUREKA_CHECK(!points.empty(), "a sweep without points");
  const bool planted = points.front().the_case.planted.has_value();
  const std::vector<ConditioningResult> means = means_of(points, seeds, threads);
  ResultTable table(columns_of(planted));
  for (std::size_t i = 0; i < points.size(); ++i) table.add_row(row_of(points[i].the_case, means[i]));
  ResultTable laws({{"claim", "claim", "", Align::left},
                    {"law", "law", "", Align::left},
                    {"theory", "theory", "{:.2f}"},
                    {"measured", "measured", "{:.3f}"},
                    {"ratio", "ratio", "{:.3f}"}});
  if (planted)
    add_slopes(points, means, laws);
  else
    add_temperature_laws(points, means, laws);
  LogCurve curve = sweep_curve(points, table);
  if (!kinds.empty())
    for (const theory::AttentionKind kind : theory::kAttentionKinds)
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) table.drop_column(theory::name_of(kind));
  return {planted ? "kappa of the Gauss-Newton matrix over active tokens (T1: rank starvation; "
                    "T3, T2: F removes one factor J, G2 both)"
                  : "kappa of the Gauss-Newton matrix over temperatures (T4: what stays slow is "
                    "w* itself; J8: rows alone do not tell)",
          {table, laws},
          std::move(curve),
          ""};
}

}  // namespace eureka
