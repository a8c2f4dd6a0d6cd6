// One panel of a chart, drawn into its place.
#pragma once

#include "figure/chart.h"
#include "figure/scale.h"

namespace eureka::figure {

// Long titles and labels take two lines; the second is cut where it must be.
inline constexpr double kLabelLine = 14, kLabelReach = 20;  // beyond the axis it belongs to
std::vector<std::string> label_lines(const std::string& text, double width);

class PanelPainter {
 public:
  // All must outlive the painter.
  PanelPainter(Drawing& drawing, const Panel& panel, const Frame& frame, const Scale& x, const Scale& y)
      : drawing_(drawing), panel_(panel), frame_(frame), x_(x), y_(y) {}

  // `margin` is the room at the left, where the first column has its label.
  void paint(bool is_first_column, double margin);

 private:
  Point place(const Point& point) const { return {x_.place(point.x), y_.place(point.y)}; }
  double bottom() const { return frame_.top + frame_.height; }
  void grid();
  void rests();
  void lines();
  void band(const Series& series);
  void series(const Series& series);
  void dots(const Dots& dots);
  void labels(bool is_first_column, double margin);
  void rows(double margin);

  Drawing& drawing_;
  const Panel& panel_;
  const Frame& frame_;
  const Scale& x_;
  const Scale& y_;
};

}  // namespace eureka::figure
