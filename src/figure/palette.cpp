#include "figure/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace eureka::figure {
namespace {

struct NamedColor {
  Color::Part part;
  const char* name;
  Rgb light, dark;
};

constexpr NamedColor kParts[] = {
    {Color::Part::ink, "ink", {0x1b, 0x1e, 0x23}, {0xe8, 0xea, 0xed}},
    {Color::Part::muted, "muted", {0x5a, 0x62, 0x6e}, {0xa2, 0xaa, 0xb6}},
    {Color::Part::grid, "grid", {0xe3, 0xe6, 0xea}, {0x34, 0x3a, 0x43}},
    {Color::Part::paper, "paper", {0xff, 0xff, 0xff}, {0x17, 0x1a, 0x1f}},
    {Color::Part::plateau, "plateau", {0xd9, 0x8e, 0x04}, {0xe8, 0xb0, 0x4a}},
    {Color::Part::moment, "moment", {0xa6, 0x2b, 0x6f}, {0xe8, 0x8c, 0xbf}},
};

struct SeriesPair {
  Rgb light, dark;
};

// Blue, vermillion, bluish green, reddish purple, sky blue, orange, olive: dark enough to be thin lines on white.
constexpr SeriesPair kSeries[kSeriesColors] = {
    {{0x00, 0x72, 0xb2}, {0x5a, 0xb4, 0xe8}}, {{0xd5, 0x5e, 0x00}, {0xf2, 0x8e, 0x46}},
    {{0x00, 0x8a, 0x63}, {0x3c, 0xc9, 0x9d}}, {{0xb8, 0x5c, 0x94}, {0xe0, 0x95, 0xc2}},
    {{0x3a, 0x9b, 0xd9}, {0x9c, 0xd6, 0xf7}}, {{0xc9, 0x8a, 0x00}, {0xf0, 0xc0, 0x50}},
    {{0x7a, 0x7a, 0x1f}, {0xc6, 0xc6, 0x6b}},
};

const NamedColor* find_part(Color::Part part) {
  const auto* found = std::find_if(std::begin(kParts), std::end(kParts), [&](const auto& p) { return p.part == part; });
  return found == std::end(kParts) ? nullptr : found;
}

std::string declarations(bool dark) {
  std::string text;
  for (const NamedColor& part : kParts) text += fmt::format("--{}:{};", part.name, hex(dark ? part.dark : part.light));
  for (std::size_t i = 0; i < kSeriesColors; ++i)
    text += fmt::format("--series-{}:{};", i, hex(dark ? kSeries[i].dark : kSeries[i].light));
  return text;
}

}  // namespace

Color series_color(std::size_t index) {
  return {Color::Part::series, static_cast<std::uint8_t>(index % kSeriesColors)};
}

Color heat_color(double value) {
  if (std::isnan(value)) return Color::own({0xc8, 0xcc, 0xd2});
  static constexpr double kStops[5][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double place = 4 * std::clamp(value, 0.0, 1.0);
  const int first = std::min(3, static_cast<int>(place));
  Rgb rgb;
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] = static_cast<std::uint8_t>(
        std::lround(kStops[first][c] + (place - first) * (kStops[first + 1][c] - kStops[first][c])));
  return Color::own(rgb);
}

Rgb rgb_on_paper(const Color& color) {
  if (color.part == Color::Part::own) return color.rgb;
  if (color.part == Color::Part::series) return kSeries[color.series].light;
  const NamedColor* part = find_part(color.part);
  return part != nullptr ? part->light : Rgb{255, 255, 255};
}

std::string hex(const Rgb& rgb) { return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]); }

std::string css_variable(const Color& color) {
  if (color.part == Color::Part::series) return fmt::format("--series-{}", color.series);
  const NamedColor* part = find_part(color.part);
  return part != nullptr ? fmt::format("--{}", part->name) : "";
}

std::string css_colors() {
  const std::string light = declarations(false), dark = declarations(true);
  return fmt::format(
      ":root{{color-scheme:light dark;{0}}}\n@media(prefers-color-scheme:dark){{:root{{{1}}}}}\n"
      ":root[data-theme=light]{{color-scheme:light;{0}}}\n:root[data-theme=dark]{{color-scheme:dark;{1}}}\n"
      "@media print{{:root,:root[data-theme]{{color-scheme:light;{0}}}}}\n",
      light, dark);
}

}  // namespace eureka::figure
