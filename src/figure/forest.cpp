#include "figure/forest.h"

#include <algorithm>
#include <cmath>

#include "figure/heading.h"
#include "figure/letters.h"
#include "figure/scale.h"

namespace eureka::figure {
namespace {

constexpr double kRow = 22;

class ForestLayout {
 public:
  ForestLayout(const Forest& forest, Titled titled) : forest_(forest) {
    drawing_.width = forest.width;
    drawing_.title = forest.title;
    top_ = add_title(drawing_, titled) + 6;
    double names = 40, texts = 20;
    for (const ForestRow& row : forest.rows) {
      names = std::max(names, std::min(220.0, text_width(row.name, kLabelSize)));
      texts = std::max(texts, text_width(row.text, kLabelSize));
    }
    left_ = names + 24;
    right_ = std::max(left_ + 80, forest.width - texts - 24);
    bottom_ = top_ + kRow * static_cast<double>(forest.rows.size()) + 4;
    drawing_.height = bottom_ + 44;
  }

  Drawing draw() {
    const Scale scale = make_scale();
    for (const Tick& tick : scale.ticks()) {
      const double x = scale.place(tick.at);
      drawing_.add(Polyline{{{x, top_}, {x, bottom_}}, {Color::grid(), 1}});
      drawing_.add(Text{.at = {x, bottom_ + 16},
                        .text = tick.label,
                        .size = kTickSize,
                        .color = Color::muted(),
                        .anchor = Anchor::middle});
    }
    const double even = scale.place(forest_.no_difference);
    drawing_.add(Polyline{{{even, top_}, {even, bottom_}}, {Color::muted(), 1.2}});
    drawing_.add(Polyline{{{left_, bottom_}, {right_, bottom_}}, {Color::muted(), 1}});
    drawing_.add(Text{.at = {(left_ + right_) / 2, bottom_ + 34},
                      .text = forest_.label,
                      .size = kLabelSize,
                      .color = Color::muted(),
                      .anchor = Anchor::middle});
    double y = top_ + kRow / 2;
    for (const ForestRow& row : forest_.rows) {
      draw_row(row, scale, y);
      y += kRow;
    }
    drawing_.frames.push_back(
        {left_, top_, right_ - left_, bottom_ - top_, scale.low(), scale.high(), 0, 1, scale.is_logarithmic(), false});
    return std::move(drawing_);
  }

 private:
  Scale make_scale() const {
    Extent extent;
    extent.add(forest_.no_difference);
    // An interval that is beyond anything would leave no room for the others.
    constexpr double kWidest = 100;
    for (const ForestRow& row : forest_.rows)
      for (const auto& value : {row.estimate, row.low, row.high})
        if (value && *value > 0) extent.add(std::clamp(*value, 1 / kWidest, kWidest));
    extent.low = std::min(extent.low * 0.9, 0.7), extent.high = std::max(extent.high * 1.1, 1.5);
    return {extent, {.label = "", .is_logarithmic = true}, left_, right_, 8};
  }

  void draw_row(const ForestRow& row, const Scale& scale, double y) {
    drawing_.add(GroupBegin{row.name, row.name + ": " + row.text});
    drawing_.add(Text{.at = {left_ - 12, y + 4},
                      .text = fitted(row.name, kLabelSize, left_ - 16),
                      .size = kLabelSize,
                      .anchor = Anchor::end});
    drawing_.add(Text{.at = {right_ + 12, y + 4}, .text = row.text, .size = kLabelSize, .color = Color::muted()});
    const auto place = [&](double value) { return std::clamp(scale.place(value), left_, right_); };
    if (row.estimate) {
      if (row.low || row.high)
        drawing_.add(Polyline{{{row.low ? place(*row.low) : left_, y}, {row.high ? place(*row.high) : right_, y}},
                              {row.tone.color, 2}});
      drawing_.add(Marker{{place(*row.estimate), y}, Shape::square, 8, row.tone.color});
    }
    drawing_.add(GroupEnd{});
  }

  const Forest& forest_;
  Drawing drawing_;
  double top_ = 0, left_ = 0, right_ = 0, bottom_ = 0;
};

}  // namespace

Drawing lay_out(const Forest& forest, Titled titled) { return ForestLayout(forest, titled).draw(); }

}  // namespace eureka::figure
