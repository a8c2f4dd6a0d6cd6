#include "report/survival_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "figure/scale.h"
#include "report/canvas.h"
#include "report/step_axis.h"
#include "report/table.h"

namespace eureka {
namespace {

constexpr int kMargin = 6;  // "100% ┤"
constexpr int kLabelRoom = 12;

// Heavy lines that leave a cell in these directions.
enum Heavy : unsigned { kLeft = 1, kRight = 2, kUp = 4, kDown = 8 };
const char* heavy_line(unsigned directions) {
  static constexpr std::array kLines = {" ", "━", "━", "━", "┃", "┛", "┗", "┻", "┃", "┓", "┏", "┳", "┃", "┫", "┣", "╋"};
  return kLines[directions];
}

class SurvivalPicture {
 public:
  SurvivalPicture(const std::vector<SurvivalSeries>& series, const SurvivalPlotOptions& options)
      : series_(series),
        options_(options),
        width_(std::clamp(options.width, 30, 500)),
        rows_(std::clamp(options.height, 4, 100)),
        columns_(width_ - kMargin),
        axis_({.low = 0, .high = options.horizon}, columns_, {}, kLabelRoom),
        y_({}, {.is_percent = true, .low = 0, .high = 1}, 0, rows_ * kDotsPerRow - 1, 3) {
    for (const SurvivalSeries& one : series_) {
      canvases_.emplace_back(columns_, rows_);
      trace(*one.curve, canvases_.back());
      if (one.is_baseline) trace_heavy(*one.curve);
    }
    for (std::size_t i = 0; i < series_.size(); ++i) place_letter(i);
  }

  std::string draw() const {
    Painter paint(options_.color);
    if (!options_.title.empty()) {
      paint.add(clipped(spaces(kMargin) + options_.title, width_), PlotInk::title);
      paint.end_line();
    }
    for (int row = 0; row < rows_; ++row) draw_row(row, paint);
    axis_.paint(kMargin - 1, paint);
    draw_legend(paint);
    return paint.take();
  }

 private:
  int dot_row(double survival) const { return rows_ * kDotsPerRow - 1 - y_.dot(survival); }

  void trace(const std::vector<SurvivalStep>& curve, Canvas& canvas) const {
    int x = 0, y = dot_row(1);
    for (const SurvivalStep& step : curve) {
      const int next_x = axis_.dot_of(step.time);
      const int next_y = dot_row(step.survival);
      canvas.line(x, y, next_x, y);
      canvas.vertical(next_x, y, next_y);
      x = next_x;
      y = next_y;
    }
    canvas.line(x, y, canvas.width_dots() - 1, y);
  }

  void trace_heavy(const std::vector<SurvivalStep>& curve) {
    int column = 0, row = 0;
    const auto mark = [&](int x, int y, unsigned directions) { heavy_[{x, y}] |= directions; };
    const auto level_to = [&](int last) {
      for (; column < last; ++column) mark(column, row, kRight), mark(column + 1, row, kLeft);
    };
    for (const SurvivalStep& step : curve) {
      level_to(axis_.column_of(step.time));
      const int below = dot_row(step.survival) / kDotsPerRow;
      for (; row < below; ++row) mark(column, row, kDown), mark(column, row + 1, kUp);
    }
    level_to(columns_ - 1);
  }

  // On the curve, where it is half-way down its own way if that place is free, else at the nearest free place on it.
  void place_letter(std::size_t series) {
    const std::vector<SurvivalStep>& curve = *series_[series].curve;
    const double last = curve.empty() ? 1 : curve.back().survival;
    const double middle = (1 + last) / 2;
    double time = curve.empty() ? options_.horizon * 0.9 : options_.horizon;
    for (const SurvivalStep& step : curve)
      if (step.survival <= middle) time = std::min(time, step.time);
    const int wanted_column = axis_.column_of(time);
    const int wanted_row = dot_row(middle) / kDotsPerRow;
    int best = 1 << 30;
    std::pair<int, int> place{-1, -1};
    for (int row = 0; row < rows_; ++row)
      for (int column = 0; column < columns_; ++column) {
        if (canvases_[series].cell(column, row) == 0 || is_taken(column, row)) continue;
        const int shared = cells_shared(series, column, row);
        const int distance = std::abs(column - wanted_column) + 3 * std::abs(row - wanted_row) + 40 * shared;
        if (distance < best) best = distance, place = {column, row};
      }
    if (best < 1 << 30) letters_[place] = series;
  }

  bool is_taken(int column, int row) const {
    for (int near = column - 1; near <= column + 1; ++near)
      if (letters_.contains({near, row})) return true;
    return false;
  }

  // A letter where curves run together would name none of them.
  int cells_shared(std::size_t series, int column, int row) const {
    int shared = 0;
    for (std::size_t other = 0; other < canvases_.size(); ++other)
      if (other != series && canvases_[other].cell(column, row) != 0) shared = 1;
    return shared;
  }

  void draw_row(int row, Painter& paint) const {
    std::string label;
    for (const auto& [at, text] : y_.ticks())
      if (dot_row(at) / kDotsPerRow == row) label = text;
    paint.add(fmt::format("{:>{}} {}", label, kMargin - 2, label.empty() ? "│" : "┤"), PlotInk::axis);
    for (int column = 0; column < columns_; ++column) {
      if (const auto letter = letters_.find({column, row}); letter != letters_.end()) {
        paint.add(std::string(1, survival_letter(letter->second)), ink_of(letter->second));
        continue;
      }
      if (const auto heavy = heavy_.find({column, row}); heavy != heavy_.end()) {
        paint.add(heavy_line(heavy->second), PlotInk::title);
        continue;
      }
      std::uint8_t dots = 0;
      std::size_t owner = 0;
      for (std::size_t i = 0; i < canvases_.size(); ++i)
        if (const std::uint8_t own = canvases_[i].cell(column, row); own != 0) dots |= own, owner = i;
      if (dots == 0)
        paint.add(" ", PlotInk::none);
      else
        paint.add(braille(dots), ink_of(owner));
    }
    paint.end_line();
  }

  PlotInk ink_of(std::size_t series) const { return series_[series].is_baseline ? PlotInk::title : series_ink(series); }

  void draw_legend(Painter& paint) const {
    int used = 0;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const std::string text =
          fmt::format("{} {}{}", survival_letter(i), series_[i].name, series_[i].is_baseline ? " (heavy line)" : "");
      const int size = display_width(text);
      if (used > 0 && used + 3 + size > width_) {
        paint.end_line();
        used = 0;
      }
      const int gap = used == 0 ? kMargin : 3;
      paint.add(spaces(gap), PlotInk::none);
      paint.add(text, ink_of(i));
      used += gap + size;
    }
    if (used > 0) paint.end_line();
  }

  const std::vector<SurvivalSeries>& series_;
  const SurvivalPlotOptions& options_;
  int width_, rows_, columns_;
  StepAxis axis_;
  figure::Scale y_;
  std::vector<Canvas> canvases_;
  std::map<std::pair<int, int>, std::size_t> letters_;  // column, row
  std::map<std::pair<int, int>, unsigned> heavy_;       // of the baseline
};

}  // namespace

char survival_letter(std::size_t series) {
  return static_cast<char>(series < 26 ? 'a' + series : 'A' + (series - 26) % 26);
}

std::string plot_survival_strips(const std::vector<SurvivalStrip>& strips, const SurvivalPlotOptions& options) {
  static constexpr std::array kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  int longest = 0;
  for (const SurvivalStrip& strip : strips) longest = std::max(longest, display_width(strip.series.name));
  longest = std::min(longest, std::max(8, options.width / 3));
  const int columns = std::max(10, options.width - kMargin - longest - 3);
  Painter paint(options.color);
  if (!options.title.empty()) {
    paint.add(clipped(spaces(kMargin) + options.title, options.width), PlotInk::title);
    paint.end_line();
  }
  for (const SurvivalStrip& strip : strips) {
    const std::string name = shortened(strip.series.name, longest);
    paint.add(spaces(kMargin) + strip.letter + " " + name + spaces(longest - display_width(name) + 1),
              strip.series.is_baseline ? PlotInk::title : PlotInk::none);
    std::string bars;
    for (int column = 0; column < columns; ++column) {
      const double time = options.horizon * (column + 0.5) / columns;
      double waiting = 1;
      for (const SurvivalStep& step : *strip.series.curve)
        if (step.time <= time) waiting = step.survival;
      // Whoever waits is seen, and a full bar is all of them.
      bars += kBars[waiting <= 0 ? 0 : waiting >= 1 ? 8 : std::clamp(static_cast<std::size_t>(8 * waiting), 1UL, 7UL)];
    }
    paint.add(bars, strip.series.is_baseline ? PlotInk::title : PlotInk::curve);
    paint.end_line();
  }
  return paint.take();
}

std::string plot_survival(const std::vector<SurvivalSeries>& series, const SurvivalPlotOptions& options) {
  return SurvivalPicture(series, options).draw();
}

}  // namespace eureka
