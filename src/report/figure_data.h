// A figure as data for the script of a page, which draws it anew: web/src/model/figure.ts has the same shape.
#pragma once

#include <string>

#include "figure/chart.h"
#include "figure/forest.h"
#include "figure/heatmap.h"

namespace eureka {

// JSON on one line. Nothing in it ends an HTML element it is put into.
std::string figure_data(const figure::Chart& chart);
std::string figure_data(const figure::Forest& forest);
std::string figure_data(const figure::Heatmap& map);

// Text as JSON has it, fit for a page.
std::string json_text(const std::string& text);

}  // namespace eureka
