// Kaplan-Meier curves in the terminal: the share of runs that still wait for the event.
//
//   std::vector<SurvivalSeries> series = {{"softmax", &summary.event.curve}, ...};
//   print("{}", Layout{plot_survival(series, {.title = "...", .horizon = 2500})});
//
// Each curve carries a letter, named below the plot, so that curves are told apart without color.
#pragma once

#include <string>
#include <vector>

#include "stats/kaplan_meier.h"

namespace eureka {

struct SurvivalSeries {
  std::string name;
  const std::vector<SurvivalStep>* curve = nullptr;  // must outlive the call only
  bool is_baseline = false;                          // drawn as a heavy line
};

struct SurvivalPlotOptions {
  std::string title;
  double horizon = 1;
  int width = 76;   // columns of the whole picture; held between 30 and 500
  int height = 12;  // rows of the plot itself
  bool color = false;
};

// One line for each curve, in the order given: how many runs still wait, as the height of a bar at each time.
//
//    b qk_norm       ████▅▂
//    a softmax       ███████▇▆▄▃▂▂▁▁
//
// Letters are those of a plot above, or blank.
struct SurvivalStrip {
  char letter = ' ';
  SurvivalSeries series;
};
std::string plot_survival_strips(const std::vector<SurvivalStrip>& strips, const SurvivalPlotOptions& options);

// The letter of a series in plot_survival.
char survival_letter(std::size_t series);

// Lines ended by '\n', none wider than options.width.
std::string plot_survival(const std::vector<SurvivalSeries>& series, const SurvivalPlotOptions& options);

}  // namespace eureka
