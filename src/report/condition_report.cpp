#include "report/condition_report.h"

#include <fmt/format.h>

namespace eureka {

using theory::Index;

std::vector<TeacherPoint> temperature_points(const theory::TeacherSize& size, const std::vector<double>& temperatures,
                                             std::uint64_t seed) {
  std::vector<TeacherPoint> points;
  for (const double tau : temperatures) points.push_back({fmt::format("tau {:g}", tau), {size, {}, tau, seed}});
  return points;
}

std::vector<TeacherPoint> planted_points(const theory::TeacherSize& size, const std::vector<Index>& extra_active,
                                         const std::vector<double>& deltas, std::uint64_t seed) {
  std::vector<TeacherPoint> points;
  for (const double delta : deltas)
    for (const Index q : extra_active)
      points.push_back({fmt::format("q {}, delta {:g}", q, delta), {size, theory::Planted{q, delta}, 1, seed}});
  return points;
}

}  // namespace eureka
