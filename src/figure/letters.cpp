#include "figure/letters.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/embedded.h"
#include "base/error.h"
#include "base/printable.h"

namespace eureka::figure {
namespace {

constexpr double kUnitsPerSize = 2048;
constexpr int kPiecesOfACurve = 5;
constexpr std::uint32_t kNoLetter = 0xFFFD;

LetterPoint on_curve(const LetterPoint& a, const LetterPoint& control, const LetterPoint& b, double t) {
  const auto mix = [&](double from, double by, double to) {
    return (1 - t) * (1 - t) * from + 2 * t * (1 - t) * by + t * t * to;
  };
  return {mix(a.x, control.x, b.x), mix(a.y, control.y, b.y)};
}

Letter parse_letter(std::istringstream& words) {
  Letter parsed;
  const auto number = [&] {
    double value = 0;
    words >> value;
    return value / kUnitsPerSize;
  };
  const auto point = [&] {
    const double x = number();
    return LetterPoint{x, number()};
  };
  parsed.advance = number();
  for (char kind = 0; words >> kind;) {
    if (kind == 'M') {
      parsed.contours.push_back({point()});
      continue;
    }
    std::vector<LetterPoint>& contour = parsed.contours.back();
    if (kind == 'L') {
      contour.push_back(point());
      continue;
    }
    const LetterPoint start = contour.back(), control = point(), end = point();
    for (int i = 1; i <= kPiecesOfACurve; ++i)
      contour.push_back(on_curve(start, control, end, static_cast<double>(i) / kPiecesOfACurve));
  }
  return parsed;
}

std::map<std::uint32_t, Letter> read_letters() {
  std::map<std::uint32_t, Letter> letters;
  std::istringstream lines{std::string(letter_files::files()[0].text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint32_t code = 0;
    words >> std::hex >> code >> std::dec;
    letters[code] = parse_letter(words);
  }
  letters[kNoLetter] = {
      0.6,
      {{{0.06, 0}, {0.54, 0}, {0.54, 0.7}, {0.06, 0.7}}, {{0.12, 0.06}, {0.12, 0.64}, {0.48, 0.64}, {0.48, 0.06}}}};
  return letters;
}

const std::map<std::uint32_t, Letter>& all_letters() {
  static const std::map<std::uint32_t, Letter> letters = read_letters();
  return letters;
}

std::string utf8_prefix(std::string_view text, std::size_t letters) {
  std::string_view rest = text;
  while (letters-- > 0 && !rest.empty()) take_code_point(rest);
  return std::string(text.substr(0, text.size() - rest.size()));
}

}  // namespace

const Letter& letter(std::uint32_t code_point) {
  const auto found = all_letters().find(code_point);
  return found != all_letters().end() ? found->second : all_letters().at(kNoLetter);
}

std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> codes;
  while (!text.empty()) codes.push_back(take_code_point(text).value_or(kNoLetter));
  return codes;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const std::uint32_t code : code_points(text)) width += letter(code).advance;
  return width * size;
}

bool is_measured(std::string_view text) {
  const std::vector<std::uint32_t> codes = code_points(text);
  return std::all_of(codes.begin(), codes.end(), [](std::uint32_t code) { return all_letters().contains(code); });
}

std::string fitted(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  std::size_t letters = code_points(text).size();
  while (letters > 0 && text_width(utf8_prefix(text, letters) + "…", size) > width) --letters;
  return utf8_prefix(text, letters) + "…";
}

std::vector<std::string> wrapped_lines(std::string_view text, double size, double width) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (lines.empty() || text_width(lines.back() + " " + word, size) > width)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

}  // namespace eureka::figure
