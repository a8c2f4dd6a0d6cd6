// A figure of a report: what it asks, how to read it, its drawing and its data.
#pragma once

#include <functional>
#include <string>

#include "figure/chart.h"

namespace eureka {

struct ReportFigure {
  std::string name;     // "survival": for --figure and as an anchor
  std::string title;    // the question it answers
  std::string caption;  // how to read it
  // Made when asked for: a page needs it without its title, a file with it.
  std::function<figure::Drawing(figure::Titled)> draw;
  std::string csv;         // what is drawn
  bool is_folded = false;  // on a page behind a line that opens it
};

// Of a chart or a forest, which is kept.
template <class Layout>
std::function<figure::Drawing(figure::Titled)> drawn(Layout layout) {
  return [layout = std::move(layout)](figure::Titled titled) { return lay_out(layout, titled); };
}

// A cell of CSV, in quotes where it needs them.
std::string csv_cell(const std::string& text);
// Every digit that counts; empty when it is no number.
std::string csv_number(double value);

}  // namespace eureka
