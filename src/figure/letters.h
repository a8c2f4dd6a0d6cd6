// Letters without a font: how wide a text is, and the outlines to fill where no font is at hand. The widths are those
// of Helvetica and Arial, so a layout made with them fits in every painter.
//
//   text_width("speed-up", 12)           46.7
//   letter('A').contours
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eureka::figure {

struct LetterPoint {
  double x = 0, y = 0;  // in sizes of the letter, y upwards from the baseline
};

struct Letter {
  double advance = 0;                              // in sizes of the letter
  std::vector<std::vector<LetterPoint>> contours;  // closed; filled where they wind around
};

// A box where there is no such letter.
const Letter& letter(std::uint32_t code_point);

// Bytes that are not UTF-8 count as a box each.
std::vector<std::uint32_t> code_points(std::string_view text);

double text_width(std::string_view text, double size);

// Whether each of its letters is known, so that text_width() can be relied on.
bool is_measured(std::string_view text);

// Cut at the end, with an ellipsis, where it would be wider.
std::string fitted(std::string_view text, double size, double width);

// Lines of words, none wider than `width` unless one word is.
std::vector<std::string> wrapped_lines(std::string_view text, double size, double width);

}  // namespace eureka::figure
