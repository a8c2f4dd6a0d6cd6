// The colors of figures, by the part they play. Series are told apart by people who see few colors too (after Okabe and
// Ito), and beyond the seven colors by their dashes.
//
//   Color::ink()          the baseline, axes and text
//   series_color(3)       of the third arm beside the baseline
//   heat_color(0.7)       a value between 0 and 1
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace eureka::figure {

using Rgb = std::array<std::uint8_t, 3>;

struct Color {
  enum class Part : std::uint8_t { none, ink, muted, grid, paper, plateau, moment, series, own };
  Part part = Part::none;
  std::uint8_t series = 0;  // of Part::series
  Rgb rgb{};                // of Part::own

  static constexpr Color ink() { return {Part::ink}; }
  static constexpr Color muted() { return {Part::muted}; }      // labels, remarks
  static constexpr Color grid() { return {Part::grid}; }        // lines to read by
  static constexpr Color paper() { return {Part::paper}; }      // the background
  static constexpr Color plateau() { return {Part::plateau}; }  // where a curve rests
  static constexpr Color moment() { return {Part::moment}; }    // where it leaves
  static constexpr Color own(Rgb rgb) { return {Part::own, 0, rgb}; }

  bool is_visible() const { return part != Part::none; }
};

inline constexpr std::size_t kSeriesColors = 7;

// They repeat after kSeriesColors.
Color series_color(std::size_t index);

// From dark to bright in even steps of lightness; NaN is gray.
Color heat_color(double value);

// On white.
Rgb rgb_on_paper(const Color& color);

// "#0072b2"
std::string hex(const Rgb& rgb);

// The name of a CSS variable: "--series-3"; empty for Part::own and Part::none.
std::string css_variable(const Color& color);

// ":root{--ink:#1b1e23;...} and the dark ones for those who like it dark: a style sheet. A page may choose for them:
// <html data-theme="dark">.
std::string css_colors();

}  // namespace eureka::figure
