#include "figure/heading.h"

#include <algorithm>

#include "figure/letters.h"

namespace eureka::figure {

double add_title(Drawing& drawing, Titled titled) {
  double top = 8;
  if (titled == Titled::no) return top;
  for (const std::string& line : wrapped_lines(drawing.title, kTitleSize, drawing.width - 24)) {
    top += 20;
    drawing.add(Text{.at = {12, top - 4}, .text = line, .size = kTitleSize});
  }
  return top + 4;
}

double add_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double left, double top) {
  if (entries.empty()) return top;
  constexpr double kSample = 22, kGap = 16, kLine = 18;
  const double right = drawing.width - 10;
  double x = left, y = top + 13;
  for (const LegendEntry& entry : entries) {
    const std::string name = fitted(entry.name, kLabelSize, right - left - kSample - 6);
    const double width = kSample + 6 + text_width(name, kLabelSize);
    if (x > left && x + width > right) x = left, y += kLine;
    drawing.add(GroupBegin{entry.name, ""});
    if (entry.shape)
      drawing.add(Marker{{x + kSample / 2, y - 4}, *entry.shape, 7, entry.tone.color});
    else
      drawing.add(Polyline{{{x, y - 4}, {x + kSample, y - 4}},
                           {entry.tone.color, std::max(1.6, entry.tone.width), entry.tone.dash, entry.tone.opacity}});
    drawing.add(Text{.at = {x + kSample + 6, y}, .text = name, .size = kLabelSize});
    drawing.add(GroupEnd{});
    x += width + kGap;
  }
  return y + 9;
}

}  // namespace eureka::figure
