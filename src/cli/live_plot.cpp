#include "cli/live_plot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/output.h"
#include "base/terminal.h"
#include "cli/cli.h"
#include "report/curve_plot.h"
#include "report/finding_marks.h"
#include "train/records/number_name.h"

namespace eureka::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = 150ms;
constexpr auto kPlainLineEvery = 10s;

// Of a line of the plot below, and where there is little room: 12 of layer12, or a letter where a layer has several.
std::string line_name(const NumberName& number) {
  if (number.part.empty()) return number.layer.empty() ? "model" : number.layer;
  return number.layer.empty() ? number.part : number.part + " " + number.layer;
}
std::string line_mark(const NumberName& number, std::size_t line) {
  if (number.part.empty() && !number.layer.empty())
    return number.layer.substr(number.layer.find_first_of("0123456789"));
  return std::string(1, static_cast<char>('a' + line % 26));
}

// Rows of the plots themselves; below the least a picture shows nothing.
constexpr int kLeastHeight = 4, kLeastHeightBelow = 2, kLeastColumns = 30;

}  // namespace

LivePlot::LivePlot(std::string title, Metric metric, bool quiet)
    : title_(std::move(title)),
      metric_(std::move(metric)),
      column_("val_" + metric_.key()),
      label_("validation " + metric_.name),
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
  if (const auto value = row.find(column_)) {
    xs_.push_back(static_cast<double>(row.step));
    ys_.push_back(*value);
  }
  findings_ = findings;
  if (shown_) take_shown(row);
}

void LivePlot::take_shown(const MetricsRow& row) {
  for (const auto& [name, value] : row.numbers) {
    const auto parsed = parse_number_name(name);
    if (!parsed || parsed->diagnostic != shown_->diagnostic || parsed->number != shown_->number ||
        !parsed->head.empty() || (!shown_->part.empty() && parsed->part != shown_->part))
      continue;
    const std::string place = line_name(*parsed);
    auto line = std::find_if(lines_.begin(), lines_.end(), [&](const PlotSeries& one) { return one.name == place; });
    if (line == lines_.end()) line = lines_.insert(line, {line_mark(*parsed, lines_.size()), place, {}, {}});
    line->steps.push_back(static_cast<double>(row.step));
    line->values.push_back(value);
  }
}

std::string LivePlot::status_line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto done = static_cast<double>(updates_done_ - first_step_);
  const double rate = elapsed > 0 ? done / elapsed : 0;
  const std::string eta = rate > 0 ? format_duration(static_cast<double>(steps_ - updates_done_) / rate) : "-";
  return fmt::format("step {}/{}  {} {}  {:.0f} steps/s  ETA {}", updates_done_, steps_, metric_.name,
                     ys_.empty() ? "-" : fmt::format("{:.3f}", ys_.back()), rate, eta);
}

void LivePlot::draw(const std::string& column, const std::string& label) { column_ = column, label_ = label; }

void LivePlot::show(const ShownNumber& number) { shown_ = number; }

std::string LivePlot::picture(int width, bool color) const {
  return drawn(width, color, PlotOptions{}.height, SeriesPlotOptions{}.height);
}

// Without `height_below` what is shown below the curve is left out.
std::string LivePlot::drawn(int width, bool color, int height, int height_below) const {
  const PlotMarks marks = marks_of(findings_);
  PlotOptions options;
  options.title = title_ + " · " + label_;
  options.width = std::min(width, 100);
  options.height = height;
  options.color = color;
  options.x_max = static_cast<double>(steps_);
  if (std::isfinite(metric_.low)) options.y_min = metric_.low;
  if (std::isfinite(metric_.high)) options.y_max = metric_.high;
  if (!shown_ || height_below == 0) return plot_curve({xs_, ys_}, marks, options);

  SeriesPlotOptions below;
  below.title = fmt::format("{}/{}{} · {}", shown_->diagnostic, shown_->number,
                            shown_->part.empty() ? "" : "/" + shown_->part, shown_->unit);
  below.width = options.width;
  below.height = height_below;
  below.color = color;
  if (!xs_.empty()) below.x_min = xs_.front();
  below.x_max = options.x_max;
  const PlotMargins own = curve_margins({xs_, ys_}, marks, options), other = series_margins(lines_, below);
  options.margins = below.margins = {std::max(own.left, other.left), std::max(own.right, other.right)};
  return plot_curve({xs_, ys_}, marks, options) + plot_series(lines_, marks, below);
}

std::string LivePlot::live_picture(const WindowSize& window) const {
  if (window.columns < kLeastColumns) return "";
  const bool color = use_color(STDERR_FILENO);
  // Both plots share the room two to one, then the curve has it alone, then there is only the status.
  const auto both = [&](int height) {
    return drawn(window.columns, color, height - height / 3, shown_ ? height / 3 : 0);
  };
  const auto curve_alone = [&](int height) { return drawn(window.columns, color, height, 0); };
  if (shown_) {
    const int most = PlotOptions{}.height + SeriesPlotOptions{}.height;
    const std::string picture = picture_that_fits(both, most, kLeastHeight + kLeastHeightBelow + 2, window);
    if (!picture.empty()) return picture;
  }
  return picture_that_fits(curve_alone, PlotOptions{}.height, kLeastHeight, window);
}

void LivePlot::redraw() {
  // What stands when a stop is asked for stays.
  if (stop_requested().load()) return;
  last_draw_ = Clock::now();
  frame_.show(live_picture(frame_.window()) + status_line() + "\n");
}

}  // namespace eureka::cli
