// The curve of a run as it grows: redrawn in place on a terminal; elsewhere a plain line now and then.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/shown_number.h"
#include "report/live_frame.h"
#include "report/series_plot.h"
#include "train/run.h"

namespace eureka::cli {

class LivePlot : public RunObserver {
 public:
  LivePlot(std::string title, Metric metric, bool quiet);

  // Another column than the metric on the validation samples, and what stands above it.
  void draw(const std::string& column, const std::string& label);

  // Below the curve, a line for each layer.
  void show(const ShownNumber& number);

  void on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) override;
  void on_step(std::int64_t updates_done) override;
  void on_row(const MetricsRow& row, const Findings& findings) override;

  // The picture as it stands.
  std::string picture(int width, bool color) const;

  // Clears the live picture, so that the final one can be printed in its place.
  void finish() { frame_.clear(); }

  // Leaves the last live picture standing.
  void leave() { frame_.leave(); }

 private:
  void take_shown(const MetricsRow& row);
  void redraw();
  std::string drawn(int width, bool color, int height, int height_below) const;
  std::string live_picture(const WindowSize& window) const;
  std::string status_line() const;

  std::string title_;
  Metric metric_;
  std::string column_, label_;
  bool live_;
  bool plain_;
  std::string engine_;
  std::int64_t first_step_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t updates_done_ = 0;
  std::vector<double> xs_, ys_;
  std::optional<ShownNumber> shown_;
  std::vector<PlotSeries> lines_;  // of the number that is shown
  Findings findings_;
  LiveFrame frame_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace eureka::cli
