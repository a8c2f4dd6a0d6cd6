// A figure of a report: what it asks, how to read it, its drawing and its data.
#pragma once

#include <functional>
#include <string>

#include "figure/chart.h"
#include "report/figure_data.h"

namespace eureka {

// How a figure comes about, made when asked for: a page needs it without its title, a file with it, a script its data.
struct FigureSource {
  std::function<figure::Drawing(figure::Titled)> drawing;
  std::function<std::string()> data;  // JSON; none: the figure stands still

  figure::Drawing operator()(figure::Titled titled) const { return drawing(titled); }
  explicit operator bool() const { return static_cast<bool>(drawing); }
};

struct ReportFigure {
  std::string name;     // "survival": for --figure and as an anchor
  std::string title;    // the question it answers
  std::string caption;  // how to read it
  FigureSource draw;
  std::string csv;         // what is drawn
  bool is_folded = false;  // on a page behind a line that opens it
};

// Of a chart, a forest or what else can be laid out, which is kept.
template <class Layout>
FigureSource drawn(Layout layout) {
  FigureSource source;
  if constexpr (requires { figure_data(layout); }) source.data = [layout] { return figure_data(layout); };
  source.drawing = [layout = std::move(layout)](figure::Titled titled) { return lay_out(layout, titled); };
  return source;
}

// A cell of CSV, in quotes where it needs them.
std::string csv_cell(const std::string& text);
// Every digit that counts; empty when it is no number.
std::string csv_number(double value);

}  // namespace eureka
