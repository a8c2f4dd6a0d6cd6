#include "cli/live_plot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/output.h"
#include "base/terminal.h"
#include "report/curve_plot.h"
#include "report/finding_marks.h"

namespace eureka::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = 150ms;
constexpr auto kPlainLineEvery = 10s;

}  // namespace

LivePlot::LivePlot(std::string title, Metric metric, bool quiet)
    : title_(std::move(title)),
      metric_(std::move(metric)),
      live_(!quiet && is_terminal(STDERR_FILENO)),
      plain_(!quiet && !live_),
      start_(Clock::now()) {}

void LivePlot::on_start(const std::string& engine, std::int64_t first_step, std::int64_t steps) {
  engine_ = engine;
  first_step_ = updates_done_ = first_step;
  steps_ = steps;
  start_ = last_draw_ = Clock::now();
  if (plain_)
    tell("{}: {} engine, {} steps{}\n", title_, engine, steps,
         first_step > 0 ? fmt::format(", resumed at {}", first_step) : "");
}

void LivePlot::on_step(std::int64_t updates_done) {
  updates_done_ = updates_done;
  // Asking the clock every step would be noise beside a step, but drawing is not.
  const auto now = Clock::now();
  if (live_ && now - last_draw_ >= kRedrawEvery) redraw();
  if (plain_ && now - last_draw_ >= kPlainLineEvery) {
    last_draw_ = now;
    tell("{}\n", status_line());
  }
}

void LivePlot::on_row(const MetricsRow& row, const Findings& findings) {
  xs_.push_back(static_cast<double>(row.step));
  ys_.push_back(row.validation_metric());
  findings_ = findings;
}

std::string LivePlot::status_line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto done = static_cast<double>(updates_done_ - first_step_);
  const double rate = elapsed > 0 ? done / elapsed : 0;
  const std::string eta = rate > 0 ? format_duration(static_cast<double>(steps_ - updates_done_) / rate) : "-";
  return fmt::format("step {}/{}  {} {}  {:.0f} steps/s  ETA {}", updates_done_, steps_, metric_.name,
                     ys_.empty() ? "-" : fmt::format("{:.3f}", ys_.back()), rate, eta);
}

std::string LivePlot::picture(int width, bool color) const {
  PlotOptions options;
  options.title = title_ + " · validation " + metric_.name;
  options.width = std::clamp(width, 40, 100);
  options.color = color;
  options.x_max = static_cast<double>(steps_);
  if (std::isfinite(metric_.low)) options.y_min = metric_.low;
  if (std::isfinite(metric_.high)) options.y_max = metric_.high;
  return plot_curve({xs_, ys_}, marks_of(findings_), options);
}

void LivePlot::redraw() {
  last_draw_ = Clock::now();
  std::string frame = picture(terminal_columns(STDERR_FILENO), use_color(STDERR_FILENO)) + status_line() + "\n";
  // Up over the last frame, then clear what is below: one write, so that nothing flickers.
  const std::string up = lines_drawn_ > 0 ? fmt::format("\x1b[{}A\r\x1b[J", lines_drawn_) : "";
  lines_drawn_ = static_cast<int>(std::count(frame.begin(), frame.end(), '\n'));
  tell("{}{}", Layout{up}, Layout{frame});
}

void LivePlot::finish() {
  if (lines_drawn_ > 0) tell("\x1b[{}A\r\x1b[J", lines_drawn_);
  lines_drawn_ = 0;
}

}  // namespace eureka::cli
