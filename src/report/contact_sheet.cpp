#include "report/contact_sheet.h"

#include <algorithm>

namespace eureka {
namespace {

constexpr Rgb kPaper = {30, 32, 38}, kText = {205, 210, 220}, kFirstLine = {255, 214, 90};
constexpr int kMargin = 12, kTextHeight = 11, kLineHeight = 19;

}  // namespace

RgbImage draw_contact_sheet(const std::vector<SheetCell>& cells, const SheetOptions& options) {
  int picture_width = 0, picture_height = 0, caption_width = 0;
  std::size_t lines = 0;
  for (const SheetCell& cell : cells) {
    picture_width = std::max(picture_width, cell.picture.width * options.zoom);
    picture_height = std::max(picture_height, cell.picture.height * options.zoom);
    lines = std::max(lines, cell.lines.size());
    for (const std::string& line : cell.lines) caption_width = std::max(caption_width, text_width(line, kTextHeight));
  }
  const int columns = std::max(1, std::min(options.columns, static_cast<int>(cells.size())));
  const int rows = (static_cast<int>(cells.size()) + columns - 1) / columns;
  const int cell_width = picture_width + caption_width + 2 * kMargin;
  const int cell_height = std::max(picture_height, static_cast<int>(lines) * kLineHeight) + kMargin;
  const int title_height = static_cast<int>(options.title.size()) * kLineHeight;
  int width = kMargin + columns * cell_width;
  for (const std::string& line : options.title) width = std::max(width, 2 * kMargin + text_width(line, kTextHeight));

  RgbImage sheet = blank_picture(width, 2 * kMargin + title_height + rows * cell_height, kPaper);
  for (std::size_t i = 0; i < options.title.size(); ++i)
    draw_text(sheet, options.title[i], kMargin, kMargin + static_cast<int>(i) * kLineHeight, kTextHeight, kText);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const SheetCell& cell = cells[i];
    const int left = kMargin + static_cast<int>(i) % columns * cell_width;
    const int top = kMargin + title_height + static_cast<int>(i) / columns * cell_height;
    place_picture(sheet, cell.picture, left, top, options.zoom);
    for (const SheetFrame& frame : cell.frames)
      draw_frame(sheet, left + frame.left * options.zoom, top + frame.top * options.zoom, frame.width * options.zoom,
                 frame.height * options.zoom, 1, frame.color);
    for (std::size_t line = 0; line < cell.lines.size(); ++line)
      draw_text(sheet, cell.lines[line], left + picture_width + kMargin, top + 2 + static_cast<int>(line) * kLineHeight,
                kTextHeight, line == 0 ? kFirstLine : kText);
  }
  return sheet;
}

}  // namespace eureka
