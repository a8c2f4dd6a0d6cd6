#include "figure/png_painter.h"

#include <algorithm>
#include <cmath>

#include "figure/coverage.h"
#include "figure/dashes.h"
#include "figure/letters.h"
#include "figure/shapes.h"

namespace eureka::figure {
namespace {

class PngPainter {
 public:
  PngPainter(const Drawing& drawing, double zoom) : zoom_(zoom) {
    image_.width = std::max(1, static_cast<int>(std::ceil(drawing.width * zoom)));
    image_.height = std::max(1, static_cast<int>(std::ceil(drawing.height * zoom)));
    image_.rgb.assign(static_cast<std::size_t>(image_.width) * static_cast<std::size_t>(image_.height) * 3, 255);
  }

  void operator()(const Polyline& line) {
    std::vector<Outline> outlines;
    for (const std::vector<Point>& piece :
         dashes(zoomed(line.points), dash_pattern({line.stroke.color, line.stroke.width * zoom_, line.stroke.dash})))
      for (Outline& outline : stroke_outlines(piece, line.stroke.width * zoom_)) outlines.push_back(std::move(outline));
    fill(outlines, line.stroke.color, line.stroke.opacity);
  }
  void operator()(const Area& area) { fill({zoomed(area.outline)}, area.fill, area.opacity); }
  void operator()(const Box& box) {
    (*this)(Area{{{box.x, box.y},
                  {box.x + box.width, box.y},
                  {box.x + box.width, box.y + box.height},
                  {box.x, box.y + box.height}},
                 box.fill,
                 box.opacity});
  }
  void operator()(const Marker& marker) { (*this)(Area{outline_of(marker), marker.fill, 1}); }

  void operator()(const Picture& picture) {
    const int left = static_cast<int>(std::lround(picture.x * zoom_)),
              top = static_cast<int>(std::lround(picture.y * zoom_));
    const int wide = static_cast<int>(std::lround(picture.width * zoom_)),
              high = static_cast<int>(std::lround(picture.height * zoom_));
    for (int y = std::max(0, -top); y < high && top + y < image_.height; ++y)
      for (int x = std::max(0, -left); x < wide && left + x < image_.width; ++x) {
        const std::ptrdiff_t row = std::ptrdiff_t{y} * picture.image.height / high;
        const std::ptrdiff_t column = std::ptrdiff_t{x} * picture.image.width / wide;
        std::copy_n(picture.image.rgb.begin() + 3 * (row * picture.image.width + column), 3, pixel(left + x, top + y));
      }
  }

  void operator()(const Text& text) {
    double along =
        text.anchor == Anchor::start ? 0 : -text_width(text.text, text.size) * (text.anchor == Anchor::end ? 1 : 0.5);
    std::vector<Outline> outlines;
    for (const std::uint32_t code : code_points(text.text)) {
      const Letter& one = letter(code);
      for (const auto& contour : one.contours) {
        Outline outline;
        for (const LetterPoint& point : contour) {
          const double x = along + point.x * text.size, y = -point.y * text.size;
          outline.push_back(text.upwards ? Point{text.at.x + y, text.at.y - x} : Point{text.at.x + x, text.at.y + y});
        }
        outlines.push_back(zoomed(outline));
      }
      along += one.advance * text.size;
    }
    fill(outlines, text.color, 1);
  }

  void operator()(const GroupBegin&) {}
  void operator()(const GroupEnd&) {}

  RgbImage take() { return std::move(image_); }

 private:
  std::uint8_t* pixel(int x, int y) {
    return image_.rgb.data() + (static_cast<std::ptrdiff_t>(y) * image_.width + x) * 3;
  }

  Outline zoomed(const std::vector<Point>& points) const {
    Outline outline;
    for (const Point& point : points) outline.push_back({point.x * zoom_, point.y * zoom_});
    return outline;
  }

  void fill(const std::vector<Outline>& outlines, const Color& color, double opacity) {
    if (!color.is_visible()) return;
    const Rgb rgb = rgb_on_paper(color);
    cover(outlines, image_.width, image_.height, [&](int x, int y, double share) {
      std::uint8_t* at = pixel(x, y);
      for (std::size_t c = 0; c < 3; ++c)
        at[c] = static_cast<std::uint8_t>(std::lround(at[c] + share * opacity * (rgb[c] - at[c])));
    });
  }

  double zoom_;
  RgbImage image_;
};

}  // namespace

RgbImage rastered(const Drawing& drawing, double zoom) {
  PngPainter painter(drawing, zoom);
  for (const Item& item : drawing.items) std::visit(painter, item);
  return painter.take();
}

}  // namespace eureka::figure
