#include "report/survival_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "figure/axis.h"
#include "report/canvas.h"
#include "report/table.h"

namespace eureka {
namespace {

constexpr int kMargin = 6;  // "100% ┤"

char letter_of(std::size_t series) { return static_cast<char>(series < 26 ? 'a' + series : 'A' + (series - 26) % 26); }

class SurvivalPicture {
 public:
  SurvivalPicture(const std::vector<SurvivalSeries>& series, const SurvivalPlotOptions& options)
      : series_(series),
        options_(options),
        width_(std::clamp(options.width, 30, 500)),
        rows_(std::clamp(options.height, 4, 100)),
        columns_(width_ - kMargin),
        x_(widened(0, options.horizon)) {
    for (const SurvivalSeries& one : series_) {
      canvases_.emplace_back(columns_, rows_);
      trace(*one.curve, canvases_.back());
    }
    for (std::size_t i = 0; i < series_.size(); ++i) place_letter(i);
  }

  std::string draw() const {
    Painter paint(options_.color);
    if (!options_.title.empty()) {
      paint.add(spaces(kMargin) + options_.title, PlotInk::title);
      paint.end_line();
    }
    for (int row = 0; row < rows_; ++row) draw_row(row, paint);
    draw_axis(paint);
    draw_legend(paint);
    return paint.take();
  }

 private:
  int dot_row(double survival) const {
    const int dots = rows_ * kDotsPerRow;
    return dots - 1 - AxisRange{0, 1}.dot(survival, dots);
  }

  void trace(const std::vector<SurvivalStep>& curve, Canvas& canvas) const {
    int x = 0, y = dot_row(1);
    for (const SurvivalStep& step : curve) {
      const int next_x = x_.dot(step.time, canvas.width_dots());
      const int next_y = dot_row(step.survival);
      canvas.line(x, y, next_x, y);
      canvas.vertical(next_x, y, next_y);
      x = next_x;
      y = next_y;
    }
    canvas.line(x, y, canvas.width_dots() - 1, y);
  }

  // On the curve, where it is half-way down its own way if that place is free, else at the nearest free place on it.
  void place_letter(std::size_t series) {
    const std::vector<SurvivalStep>& curve = *series_[series].curve;
    const double last = curve.empty() ? 1 : curve.back().survival;
    const double middle = (1 + last) / 2;
    double time = curve.empty() ? options_.horizon * 0.9 : options_.horizon;
    for (const SurvivalStep& step : curve)
      if (step.survival <= middle) time = std::min(time, step.time);
    const int wanted_column = x_.dot(time, columns_);
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
    const bool top = row == 0, bottom = row == rows_ - 1, half = row == (rows_ - 1) / 2;
    const char* label = top ? "100% ┤" : half ? " 50% ┤" : bottom ? "  0% ┤" : "     │";
    paint.add(label, PlotInk::axis);
    for (int column = 0; column < columns_; ++column) {
      if (const auto letter = letters_.find({column, row}); letter != letters_.end()) {
        paint.add(std::string(1, letter_of(letter->second)), series_ink(letter->second));
        continue;
      }
      std::uint8_t dots = 0;
      std::size_t owner = 0;
      for (std::size_t i = 0; i < canvases_.size(); ++i)
        if (const std::uint8_t own = canvases_[i].cell(column, row); own != 0) dots |= own, owner = i;
      if (dots == 0)
        paint.add(" ", PlotInk::none);
      else
        paint.add(braille(dots), series_ink(owner));
    }
    paint.end_line();
  }

  void draw_axis(Painter& paint) const {
    const Ticks ticks = ticks_around(0, options_.horizon, std::max(2, columns_ / 12));
    std::string line, labels = spaces(kMargin);
    std::vector<bool> is_tick(index(columns_));
    for (int i = 0; i < ticks.count; ++i) {
      const int column = x_.dot(ticks.at(i), columns_);
      if (column < 0 || column >= columns_) continue;
      is_tick[index(column)] = true;
      const std::string text = short_step_text(ticks.at(i), ticks.step);
      const int start =
          std::min(kMargin + column - static_cast<int>(text.size()) / 2, width_ - static_cast<int>(text.size()));
      if (start < static_cast<int>(labels.size()) && i > 0) continue;
      labels.resize(index(std::max(start, kMargin)), ' ');
      labels += text;
    }
    for (int column = 0; column < columns_; ++column) line += is_tick[index(column)] ? "┬" : "─";
    paint.add(spaces(kMargin - 1) + "└" + line, PlotInk::axis);
    paint.end_line();
    paint.add(labels, PlotInk::axis);
    paint.end_line();
  }

  void draw_legend(Painter& paint) const {
    int used = 0;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const std::string text = fmt::format("{} {}", letter_of(i), series_[i].name);
      const int size = display_width(text);
      if (used > 0 && used + 3 + size > width_) {
        paint.end_line();
        used = 0;
      }
      const int gap = used == 0 ? kMargin : 3;
      paint.add(spaces(gap), PlotInk::none);
      paint.add(text, series_ink(i));
      used += gap + size;
    }
    if (used > 0) paint.end_line();
  }

  const std::vector<SurvivalSeries>& series_;
  const SurvivalPlotOptions& options_;
  int width_, rows_, columns_;
  AxisRange x_;
  std::vector<Canvas> canvases_;
  std::map<std::pair<int, int>, std::size_t> letters_;  // column, row
};

}  // namespace

std::string plot_survival(const std::vector<SurvivalSeries>& series, const SurvivalPlotOptions& options) {
  return SurvivalPicture(series, options).draw();
}

}  // namespace eureka
