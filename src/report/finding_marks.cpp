#include "report/finding_marks.h"

namespace eureka {

PlotMarks marks_of(const Findings& findings) {
  PlotMarks marks;
  for (const Plateau& plateau : findings.plateaus)
    marks.plateaus.push_back({plateau.start, plateau.end, plateau.level});
  for (const Moment& moment : findings.moments) marks.moments.push_back({moment.step});
  if (findings.first_rise) marks.rises.push_back({findings.first_rise->step, "first rise"});
  for (const Moment& grok : findings.groks) marks.rises.push_back({grok.step, "grokking"});
  return marks;
}

}  // namespace eureka
