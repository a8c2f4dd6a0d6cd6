#include "report/finding_marks.h"

namespace eureka {

PlotMarks marks_of(const Findings& findings) {
  PlotMarks marks;
  for (const Plateau& plateau : findings.plateaus)
    marks.plateaus.push_back({plateau.start, plateau.end, plateau.level});
  for (const Moment& moment : findings.moments) marks.moments.push_back({moment.step});
  return marks;
}

}  // namespace eureka
