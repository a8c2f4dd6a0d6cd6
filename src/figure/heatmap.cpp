#include "figure/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "figure/heading.h"
#include "figure/letters.h"
#include "figure/scale.h"

namespace eureka::figure {
namespace {

constexpr double kRow = 26, kLine = 14, kKeyWidth = 160, kKeyHeight = 10;

// A point of several axes takes a line for each: "task.noise=0.1", "train.lr=0.003".
std::vector<std::string> lines_of(const std::string& name) {
  std::vector<std::string> lines;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, ',');) lines.push_back(part);
  return lines;
}

class HeatmapLayout {
 public:
  HeatmapLayout(const Heatmap& map, Titled titled) : map_(map), scale_(map) {
    double names = 30;
    for (const std::string& name : map.rows) names = std::max(names, std::min(200.0, text_width(name, kLabelSize)));
    left_ = names + 24 + 18;
    for (const std::string& name : map.columns) {
      columns_.push_back(lines_of(name));
      for (const std::string& line : columns_.back())
        column_ = std::max(column_, std::min(150.0, text_width(line, kTickSize) + 14));
      lines_ = std::max(lines_, columns_.back().size());
    }
    for (const auto& row : map.cells)
      for (const HeatCell& cell : row) column_ = std::max(column_, text_width(cell.text, kTickSize) + 12);
    drawing_.width = std::max(420.0, left_ + column_ * static_cast<double>(map.columns.size()) + 16);
    drawing_.width = std::max(drawing_.width, left_ + kKeyWidth + 80 + text_width(map.value_label, kTickSize));
    drawing_.title = map.title;
    key_ = add_title(drawing_, titled) + 10;
    top_ = key_ + 20 + kLine * static_cast<double>(lines_);
  }

  Drawing draw() {
    draw_key(key_);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      for (std::size_t line = 0; line < columns_[c].size(); ++line)
        drawing_.add(Text{.at = {left_ + column_ * (static_cast<double>(c) + 0.5),
                                 top_ - 6 - kLine * static_cast<double>(columns_[c].size() - 1 - line)},
                          .text = fitted(columns_[c][line], kTickSize, column_ - 4),
                          .size = kTickSize,
                          .color = Color::muted(),
                          .anchor = Anchor::middle});
    for (std::size_t r = 0; r < map_.rows.size(); ++r) draw_row(r, top_ + kRow * static_cast<double>(r));
    const double bottom = top_ + kRow * static_cast<double>(map_.rows.size());
    drawing_.add(Text{.at = {left_ + column_ * static_cast<double>(map_.columns.size()) / 2, bottom + 20},
                      .text = map_.column_label,
                      .size = kLabelSize,
                      .color = Color::muted(),
                      .anchor = Anchor::middle});
    drawing_.add(Text{.at = {16, (top_ + bottom) / 2},
                      .text = map_.row_label,
                      .size = kLabelSize,
                      .color = Color::muted(),
                      .anchor = Anchor::middle,
                      .upwards = true});
    drawing_.height = bottom + 32;
    return std::move(drawing_);
  }

 private:
  void draw_row(std::size_t r, double y) {
    drawing_.add(Text{.at = {left_ - 10, y + kRow / 2 + 4},
                      .text = fitted(map_.rows[r], kLabelSize, left_ - 40),
                      .size = kLabelSize,
                      .anchor = Anchor::end});
    for (std::size_t c = 0; c < map_.cells[r].size(); ++c) {
      const HeatCell& cell = map_.cells[r][c];
      const double x = left_ + column_ * static_cast<double>(c);
      drawing_.add(Box{x + 1, y + 1, column_ - 2, kRow - 2, scale_.fill(cell.value)});
      drawing_.add(Text{.at = {x + column_ / 2, y + kRow / 2 + 4},
                        .text = cell.text,
                        .size = kTickSize,
                        .color = scale_.ink(cell.value),
                        .anchor = Anchor::middle});
    }
  }

  void draw_key(double y) {
    if (scale_.is_empty()) return;
    constexpr int kSteps = 32;
    for (int i = 0; i < kSteps; ++i) {
      const double share = (i + 0.5) / kSteps;
      drawing_.add(
          Box{left_ + i * kKeyWidth / kSteps, y - kKeyHeight, kKeyWidth / kSteps + 0.3, kKeyHeight, scale_.key(share)});
    }
    drawing_.add(Text{.at = {left_ - 6, y},
                      .text = fmt::format("{:.3g}", scale_.low()),
                      .size = kTickSize,
                      .color = Color::muted(),
                      .anchor = Anchor::end});
    drawing_.add(Text{.at = {left_ + kKeyWidth + 6, y},
                      .text = fmt::format("{:.3g}  {}", scale_.high(), map_.value_label),
                      .size = kTickSize,
                      .color = Color::muted()});
  }

  const Heatmap& map_;
  Drawing drawing_;
  HeatScale scale_;
  std::vector<std::vector<std::string>> columns_;  // the lines of each name
  std::size_t lines_ = 1;
  double key_ = 0, top_ = 0, left_ = 0, column_ = 64;
};

}  // namespace

HeatScale::HeatScale(const Heatmap& map) : low_is_bright_(map.low_is_bright) {
  Extent extent;
  for (const auto& row : map.cells)
    for (const HeatCell& cell : row) extent.add(cell.value);
  low_ = extent.low, high_ = extent.high;
  is_logarithmic_ = map.is_logarithmic && low_ > 0;
}

double HeatScale::share(double value) const {
  if (!std::isfinite(value)) return std::nan("");
  const double low = is_logarithmic_ ? std::log(low_) : low_, high = is_logarithmic_ ? std::log(high_) : high_;
  const double share = high > low ? ((is_logarithmic_ ? std::log(value) : value) - low) / (high - low) : 0.5;
  return low_is_bright_ ? 1 - share : share;
}

Color HeatScale::fill(double value) const { return heat_color(share(value)); }

// On the dark half of the colors text is white, on the bright one black.
Color HeatScale::ink(double value) const {
  return share(value) < 0.55 ? Color::own({255, 255, 255}) : Color::own({20, 20, 24});
}

Color HeatScale::key(double share) const { return heat_color(low_is_bright_ ? 1 - share : share); }

Drawing lay_out(const Heatmap& map, Titled titled) { return HeatmapLayout(map, titled).draw(); }

}  // namespace eureka::figure
