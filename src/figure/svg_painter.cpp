#include "figure/svg_painter.h"

#include <fmt/format.h>

#include <cmath>

#include "figure/dashes.h"
#include "figure/letters.h"
#include "figure/markup.h"
#include "figure/shapes.h"

namespace eureka::figure {
namespace {

// A tenth of a pixel is finer than anybody sees, and half of a page is coordinates.
std::string coordinate(double value) {
  const double tenths = std::round(value * 10);
  if (tenths == 0) return "0";
  std::string text = fmt::format("{:.1f}", tenths / 10);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

class SvgPainter {
 public:
  explicit SvgPainter(bool in_page) : in_page_(in_page) {}

  void operator()(const Polyline& line) {
    if (line.points.size() < 2) return;
    out_ += "<path d=\"";
    add_path(line.points);
    out_ += fmt::format("\" fill=\"none\" {}/>\n", stroke(line.stroke));
  }

  void operator()(const Area& area) {
    if (area.outline.size() < 3) return;
    out_ += "<path d=\"";
    add_path(area.outline);
    out_ += fmt::format("Z\" {}{}/>\n", fill(area.fill), opacity("fill-opacity", area.opacity));
  }

  void operator()(const Box& box) {
    out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}{}/>\n", coordinate(box.x),
                        coordinate(box.y), coordinate(box.width), coordinate(box.height), fill(box.fill),
                        opacity("fill-opacity", box.opacity));
  }

  void operator()(const Marker& marker) {
    if (marker.shape == Shape::circle) {
      out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", coordinate(marker.at.x),
                          coordinate(marker.at.y), coordinate(marker.size / 2), fill(marker.fill));
      return;
    }
    (*this)(Area{outline_of(marker), marker.fill, 1});
  }

  void operator()(const Picture& picture) {
    out_ += fmt::format(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        coordinate(picture.x), coordinate(picture.y), coordinate(picture.width), coordinate(picture.height),
        base64(png_bytes(picture.image)));
  }

  void operator()(const Text& text) {
    const std::string x = coordinate(text.at.x), y = coordinate(text.at.y);
    const char* anchor = text.anchor == Anchor::middle ? " text-anchor=\"middle\""
                         : text.anchor == Anchor::end  ? " text-anchor=\"end\""
                                                       : "";
    const std::string turn = text.upwards ? fmt::format(" transform=\"rotate(-90 {} {})\"", x, y) : "";
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{} {}>{}</text>\n", x, y, coordinate(text.size),
                        anchor, turn, length(text), fill(text.color), escaped(text.text));
  }

  void operator()(const GroupBegin& group) {
    out_ += fmt::format("<g data-name=\"{}\">", escaped(group.name));
    if (!group.tip.empty()) out_ += fmt::format("<title>{}</title>", escaped(group.tip));
  }
  void operator()(const GroupEnd&) { out_ += "</g>\n"; }

  void add_frame(const Frame& frame) {
    out_ += fmt::format(
        "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" data-x=\"{:g} {:g}{}\" "
        "data-y=\"{:g} {:g}{}\"/>\n",
        coordinate(frame.left), coordinate(frame.top), coordinate(frame.width), coordinate(frame.height), frame.x_low,
        frame.x_high, frame.x_is_logarithmic ? " log" : "", frame.y_low, frame.y_high,
        frame.y_is_logarithmic ? " log" : "");
  }

  std::string take() { return std::move(out_); }

 private:
  // Where a reader has none of our fonts, letters are wider than measured: they are drawn closer then, not cut off.
  static std::string length(const Text& text) {
    constexpr std::size_t kShort = 8;
    if (text.text.size() <= kShort || !is_measured(text.text)) return {};
    return fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                       coordinate(text_width(text.text, text.size)));
  }
  std::string color(const Color& color) const {
    if (!color.is_visible()) return "none";
    const std::string variable = in_page_ ? css_variable(color) : "";
    return variable.empty() ? hex(rgb_on_paper(color)) : fmt::format("var({})", variable);
  }

  std::string fill(const Color& what) const { return fmt::format("fill=\"{}\"", color(what)); }

  static std::string opacity(const char* name, double value) {
    return value < 1 ? fmt::format(" {}=\"{:.2g}\"", name, value) : "";
  }

  std::string stroke(const Stroke& stroke) const {
    std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"", color(stroke.color),
                                   coordinate(stroke.width));
    if (const std::vector<double> pattern = dash_pattern(stroke); !pattern.empty()) {
      text += " stroke-dasharray=\"";
      for (const double length : pattern) text += coordinate(length) + " ";
      text.back() = '"';
    }
    return text + opacity("stroke-opacity", stroke.opacity);
  }

  // Steps from point to point are shorter than places.
  void add_path(const std::vector<Point>& points) {
    const auto tenths = [](double value) { return std::llround(value * 10); };
    long long x = 0, y = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const long long next_x = tenths(points[i].x), next_y = tenths(points[i].y);
      const auto part = [](long long value) { return coordinate(static_cast<double>(value) / 10); };
      if (i == 0) {
        out_ += fmt::format("M{} {}", part(next_x), part(next_y));
      } else if (next_x == x && next_y == y) {
        continue;
      } else if (next_y == y) {
        out_ += fmt::format("h{}", part(next_x - x));
      } else if (next_x == x) {
        out_ += fmt::format("v{}", part(next_y - y));
      } else {
        out_ += fmt::format("l{} {}", part(next_x - x), part(next_y - y));
      }
      x = next_x, y = next_y;
    }
  }

  bool in_page_;
  std::string out_;
};

std::string content_of(const Drawing& drawing, bool in_page) {
  SvgPainter painter(in_page);
  for (const Item& item : drawing.items) std::visit(painter, item);
  for (const Frame& frame : drawing.frames) painter.add_frame(frame);
  return painter.take();
}

// A page narrower than this share of the figure lets it be moved sideways, else its letters could not be read.
constexpr double kSmallest = 0.72;
constexpr const char* kFonts = "Helvetica, Arial, &quot;Liberation Sans&quot;, sans-serif";

}  // namespace

std::string svg_file(const Drawing& drawing) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"{2}\">\n<title>{3}</title>\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"{4}\"/>\n{5}</svg>\n",
      coordinate(drawing.width), coordinate(drawing.height), kFonts, escaped(drawing.title),
      hex(rgb_on_paper(Color::paper())), content_of(drawing, false));
}

std::string svg_element(const Drawing& drawing, const std::string& id) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" style=\"max-width:{0}px;min-width:{5}px\" role=\"img\" aria-labelledby=\"{2}\" "
      "font-family=\"{3}\"><title id=\"{2}\">{4}</title>\n<g id=\"{2}/drawn\">{6}</g></svg>\n",
      coordinate(drawing.width), coordinate(drawing.height), escaped(id), kFonts, escaped(drawing.title),
      coordinate(kSmallest * drawing.width), content_of(drawing, true));
}

std::string svg_sheets(const Drawing& drawing, const std::string& id, double most) {
  std::string sheets;
  const auto add = [&](double from, double to) {
    sheets += fmt::format("<svg viewBox=\"0 {} {} {}\" font-family=\"{}\"><use href=\"#{}/drawn\"/></svg>\n",
                          coordinate(from), coordinate(drawing.width), coordinate(to - from), kFonts, escaped(id));
  };
  double from = 0, last = 0;
  for (const double at : drawing.breaks) {
    if (at - from > most && last > from) add(from, last), from = last;
    last = at;
  }
  if (drawing.height - from > most && last > from) add(from, last), from = last;
  add(from, drawing.height);
  return sheets;
}

}  // namespace eureka::figure
