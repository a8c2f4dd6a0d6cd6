#include "figure/pdf_painter.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "figure/dashes.h"
#include "figure/letters.h"
#include "figure/shapes.h"

namespace eureka::figure {
namespace {

constexpr double kPointsPerPixel = 0.75;

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 9);
  EUREKA_CHECK(result == Z_OK, "zlib packs what is in memory");
  packed.resize(size);
  return packed;
}

// A letter of WinAnsi, which the fonts of PDF are encoded in; nothing where it has none.
std::optional<char> win_ansi(std::uint32_t code) {
  if ((code >= 0x20 && code < 0x7F) || (code >= 0xA1 && code <= 0xFF)) return static_cast<char>(code);
  static const std::map<std::uint32_t, int> kOthers = {{0x2013, 0x96}, {0x2014, 0x97}, {0x2018, 0x91}, {0x2019, 0x92},
                                                       {0x201C, 0x93}, {0x201D, 0x94}, {0x2022, 0x95}, {0x2026, 0x85}};
  const auto found = kOthers.find(code);
  return found != kOthers.end() ? std::optional(static_cast<char>(found->second)) : std::nullopt;
}

std::optional<std::string> win_ansi(const std::string& text) {
  std::string letters;
  for (const std::uint32_t code : code_points(text)) {
    const std::optional<char> one = win_ansi(code);
    if (!one) return std::nullopt;
    if (*one == '(' || *one == ')' || *one == '\\') letters += '\\';
    letters += *one;
  }
  return letters;
}

// What is drawn goes into one stream of operators; opacities and pictures are named in it and listed beside it.
class PdfPainter {
 public:
  explicit PdfPainter(const Drawing& drawing) {
    // y downwards, in pixels, as in the drawing.
    out_ = fmt::format("{0:g} 0 0 -{0:g} 0 {1:g} cm\n1 j\n", kPointsPerPixel, drawing.height * kPointsPerPixel);
  }

  void operator()(const Polyline& line) {
    if (line.points.size() < 2 || !line.stroke.color.is_visible()) return;
    set_opacity(line.stroke.opacity);
    std::string pattern;
    for (const double length : dash_pattern(line.stroke)) pattern += fmt::format("{:.2f} ", length);
    out_ += fmt::format("{} RG {:.2f} w [{}] 0 d\n", components(line.stroke.color), line.stroke.width, pattern);
    add_path(line.points);
    out_ += "S\n";
  }

  void operator()(const Area& area) {
    if (area.outline.size() < 3) return;
    begin_fill(area.fill, area.opacity);
    add_path(area.outline);
    out_ += "h f\n";
  }

  void operator()(const Box& box) {
    begin_fill(box.fill, box.opacity);
    out_ += fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} re f\n", box.x, box.y, box.width, box.height);
  }

  void operator()(const Marker& marker) { (*this)(Area{outline_of(marker), marker.fill, 1}); }

  void operator()(const Picture& picture) {
    set_opacity(1);
    pictures_.push_back(&picture.image);
    out_ += fmt::format("q {:.2f} 0 0 {:.2f} {:.2f} {:.2f} cm /P{} Do Q\n", picture.width, -picture.height, picture.x,
                        picture.y + picture.height, pictures_.size() - 1);
  }

  void operator()(const Text& text) {
    const double back =
        text.anchor == Anchor::start ? 0 : text_width(text.text, text.size) * (text.anchor == Anchor::end ? 1 : 0.5);
    begin_fill(text.color, 1);
    // Turned over, since y goes downwards here.
    const Point start = text.upwards ? Point{text.at.x, text.at.y + back} : Point{text.at.x - back, text.at.y};
    const char* turn = text.upwards ? "0 -1 -1 0" : "1 0 0 -1";
    if (const std::optional<std::string> letters = win_ansi(text.text)) {
      out_ += fmt::format("BT /F {:g} Tf {} {:.2f} {:.2f} Tm (", text.size, turn, start.x, start.y) + *letters +
              ") Tj ET\n";
      return;
    }
    out_ += fmt::format("q {} {:.2f} {:.2f} cm\n", turn, start.x, start.y);
    double along = 0;
    for (const std::uint32_t code : code_points(text.text)) {
      for (const auto& contour : letter(code).contours) {
        std::vector<Point> points;
        for (const LetterPoint& point : contour) points.push_back({(along + point.x) * text.size, point.y * text.size});
        add_path(points);
        out_ += "h\n";
      }
      along += letter(code).advance;
    }
    out_ += "f Q\n";
  }

  void operator()(const GroupBegin&) {}
  void operator()(const GroupEnd&) {}

  const std::string& operators() const { return out_; }
  const std::vector<double>& opacities() const { return opacities_; }
  const std::vector<const RgbImage*>& pictures() const { return pictures_; }

 private:
  static std::string components(const Color& color) {
    const Rgb rgb = rgb_on_paper(color);
    return fmt::format("{:.3f} {:.3f} {:.3f}", rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
  }

  void begin_fill(const Color& color, double opacity) {
    set_opacity(opacity);
    out_ += fmt::format("{} rg\n", components(color));
  }

  void set_opacity(double opacity) {
    auto found = std::find(opacities_.begin(), opacities_.end(), opacity);
    if (found == opacities_.end()) found = opacities_.insert(opacities_.end(), opacity);
    out_ += fmt::format("/G{} gs\n", found - opacities_.begin());
  }

  void add_path(const std::vector<Point>& points) {
    for (std::size_t i = 0; i < points.size(); ++i)
      out_ += fmt::format("{:.2f} {:.2f} {}\n", points[i].x, points[i].y, i == 0 ? 'm' : 'l');
  }

  std::string out_;
  std::vector<double> opacities_;
  std::vector<const RgbImage*> pictures_;
};

// Numbered objects, and the table that says where each begins.
class PdfFile {
 public:
  void add(const std::string& object) {
    places_.push_back(text_.size());
    text_ += fmt::format("{} 0 obj\n", places_.size()) + object + "\nendobj\n";
  }
  void add_stream(const std::string& head, const std::string& bytes) {
    const std::string packed = deflated(bytes);
    add(fmt::format("<<{} /Filter /FlateDecode /Length {}>>\nstream\n", head, packed.size()) + packed + "\nendstream");
  }
  std::string finish() {
    const std::size_t start = text_.size();
    text_ += fmt::format("xref\n0 {}\n0000000000 65535 f \n", places_.size() + 1);
    for (const std::size_t place : places_) text_ += fmt::format("{:010} 00000 n \n", place);
    return text_ + fmt::format("trailer\n<</Size {} /Root 1 0 R>>\nstartxref\n{}\n%%EOF\n", places_.size() + 1, start);
  }

 private:
  std::string text_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> places_;
};

}  // namespace

std::string pdf_file(const Drawing& drawing) {
  PdfPainter painter(drawing);
  for (const Item& item : drawing.items) std::visit(painter, item);
  std::string states, pictures;
  for (std::size_t i = 0; i < painter.opacities().size(); ++i)
    states += fmt::format("/G{0} <</ca {1:g} /CA {1:g}>> ", i, painter.opacities()[i]);
  constexpr std::size_t kFirstPicture = 6;
  for (std::size_t i = 0; i < painter.pictures().size(); ++i)
    pictures += fmt::format("/P{} {} 0 R ", i, kFirstPicture + i);
  PdfFile file;
  file.add("<</Type /Catalog /Pages 2 0 R>>");
  file.add("<</Type /Pages /Kids [3 0 R] /Count 1>>");
  file.add(
      fmt::format("<</Type /Page /Parent 2 0 R /MediaBox [0 0 {:g} {:g}] /Contents 4 0 R /Resources <</Font <</F 5 0 "
                  "R>> /ExtGState <<{}>> /XObject <<{}>>>>>>",
                  drawing.width * kPointsPerPixel, drawing.height * kPointsPerPixel, states, pictures));
  file.add_stream("", painter.operators());
  file.add("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>");
  for (const RgbImage* picture : painter.pictures())
    file.add_stream(
        fmt::format("/Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceRGB /BitsPerComponent 8",
                    picture->width, picture->height),
        std::string(picture->rgb.begin(), picture->rgb.end()));
  return file.finish();
}

}  // namespace eureka::figure
