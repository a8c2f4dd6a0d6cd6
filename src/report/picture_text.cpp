// A font of strokes on a grid of 5 x 7 points, so that it can be drawn at any size.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "report/picture.h"

namespace eureka {
namespace {

// Polylines apart by spaces, two digits per point: x from 0 to 4, y from 0 (top) to 6.
std::string_view strokes_of(char letter) {
  static const std::map<char, std::string_view> kStrokes = {
      {'A', "0602204246 0444"},
      {'B', "003041423303 334445360600"},
      {'C', "4130100105163645"},
      {'D', "00304145360600"},
      {'E', "40000646 0333"},
      {'F', "400006 0333"},
      {'G', "41301001051636454323"},
      {'H', "0006 4046 0343"},
      {'I', "1030 2026 1636"},
      {'J', "4045361605"},
      {'K', "0006 400346"},
      {'L', "000646"},
      {'M', "0600234046"},
      {'N', "06004640"},
      {'O', "103041453616050110"},
      {'P', "06003041423303"},
      {'Q', "103041453616050110 3446"},
      {'R', "06003041423303 2346"},
      {'S', "413010010213334445361605"},
      {'T', "0040 2026"},
      {'U', "000516364540"},
      {'V', "002640"},
      {'W', "0016233640"},
      {'X', "0046 4006"},
      {'Y', "002340 2326"},
      {'Z', "00400646"},
      {'0', "103041453616050110 1432"},
      {'1', "112026 1636"},
      {'2', "01103041420646"},
      {'3', "01103041423313 334445361605"},
      {'4', "36300444"},
      {'5', "400002324345361605"},
      {'6', "4130100105163645443303"},
      {'7', "004026"},
      {'8', "103041423313020110 133344453616050413"},
      {'9', "4313020110304145361605"},
      {'-', "1333"},
      {'_', "0646"},
      {'.', "2526"},
      {',', "2517"},
      {':', "2122 2425"},
      {'/', "0640"},
      {'=', "0242 0444"},
      {'+', "2125 0343"},
      {'>', "014305"},
      {'<', "410345"},
      {'(', "30111536"},
      {')', "10313516"},
      {'?', "01103041422324 2626"},
      {'\'', "2021"},
      {' ', ""},
  };
  const auto found = kStrokes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))));
  return found != kStrokes.end() ? found->second : "0040460600";
}

constexpr float kRows = 6, kAdvance = 6;  // in units of the grid

float distance_to_segment(float x, float y, float ax, float ay, float bx, float by) {
  const float dx = bx - ax, dy = by - ay;
  const float length = dx * dx + dy * dy;
  const float along = length > 0 ? std::clamp(((x - ax) * dx + (y - ay) * dy) / length, 0.0F, 1.0F) : 0.0F;
  return std::hypot(x - ax - along * dx, y - ay - along * dy);
}

// Distance, in units of the grid, from a point to a letter.
float distance_to_letter(std::string_view strokes, float x, float y) {
  float nearest = 100;
  const auto at = [&](std::size_t i) { return static_cast<float>(strokes[i] - '0'); };
  for (std::size_t i = 0; i + 3 < strokes.size(); i += 2) {
    if (strokes[i + 2] == ' ') {
      ++i;  // past the space, to the next polyline
      continue;
    }
    nearest = std::min(nearest, distance_to_segment(x, y, at(i), at(i + 1), at(i + 2), at(i + 3)));
  }
  return nearest;
}

}  // namespace

int text_width(std::string_view text, int height) {
  return static_cast<int>(std::ceil(static_cast<float>(text.size()) * kAdvance * static_cast<float>(height) / kRows));
}

int draw_text(RgbImage& sheet, std::string_view text, int left, int top, int height, const Rgb& color) {
  const float unit = static_cast<float>(height) / kRows;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view strokes = strokes_of(text[i]);
    const int begin = left + static_cast<int>(std::lround(static_cast<float>(i) * kAdvance * unit));
    for (int y = -1; y <= height + 1; ++y)
      for (int x = -1; x <= static_cast<int>(4 * unit) + 2; ++x) {
        if (begin + x < 0 || top + y < 0 || begin + x >= sheet.width || top + y >= sheet.height) continue;
        const float distance =
            distance_to_letter(strokes, static_cast<float>(x) / unit, static_cast<float>(y) / unit) * unit;
        const float cover = std::clamp(0.36F * unit + 0.5F - distance, 0.0F, 1.0F);
        std::uint8_t* to =
            sheet.rgb.data() + 3 * (static_cast<std::size_t>(top + y) * static_cast<std::size_t>(sheet.width) +
                                    static_cast<std::size_t>(begin + x));
        for (std::size_t c = 0; c < 3; ++c)
          to[c] = static_cast<std::uint8_t>(std::lround(
              static_cast<float>(to[c]) + cover * (static_cast<float>(color[c]) - static_cast<float>(to[c]))));
      }
  }
  return text_width(text, height);
}

}  // namespace eureka
