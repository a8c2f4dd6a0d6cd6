#include "report/live_frame.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "base/terminal.h"
#include "report/table.h"

namespace eureka {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string fitted(const std::string& frame, const WindowSize& window) {
  const std::vector<std::string_view> lines = lines_of(frame);
  const auto room = static_cast<std::size_t>(std::max(1, window.rows - 1));
  std::string out;
  for (std::size_t i = lines.size() - std::min(lines.size(), room); i < lines.size(); ++i)
    out += clipped(lines[i], window.columns) + "\n";
  return out;
}

std::string picture_that_fits(const std::function<std::string(int height)>& draw, int height, int least,
                              const WindowSize& window) {
  const auto excess = [&](const std::string& picture) {
    const std::vector<std::string_view> lines = lines_of(picture);
    if (std::any_of(lines.begin(), lines.end(), [&](auto line) { return display_width(line) > window.columns; }))
      return window.rows + height;
    return static_cast<int>(lines.size()) + 2 - window.rows;  // with the line of status and that of the cursor
  };
  std::string picture = draw(height);
  int over = excess(picture);
  if (over > 0 && height - over >= least) {
    picture = draw(height - over);
    over = excess(picture);
  }
  return over > 0 ? "" : picture;
}

int rows_taken(const std::vector<int>& widths, int columns) {
  int rows = 0;
  for (const int width : widths) rows += std::max(1, (width + columns - 1) / std::max(1, columns));
  return rows;
}

WindowSize LiveFrame::window() const { return {terminal_columns(STDERR_FILENO), terminal_rows(STDERR_FILENO)}; }

int LiveFrame::rows_that_stand() const {
  const WindowSize now = window();
  return std::min(rows_taken(widths_, now.columns), std::max(1, now.rows - 1));
}

void LiveFrame::show(const std::string& frame) {
  // Line over line: to clear a whole window, even from its upper left corner on, makes some terminals keep a copy of it
  // above. One write, so that nothing flickers.
  std::string text = widths_.empty() ? "" : fmt::format("\x1b[{}A\r", rows_that_stand());
  widths_.clear();
  const std::string fits = fitted(frame, window());
  for (const std::string_view line : lines_of(fits)) {
    text.append(line).append("\x1b[K\n");
    widths_.push_back(display_width(line));
  }
  tell("{}", Layout{text + "\x1b[J"});
}

void LiveFrame::clear() {
  if (widths_.empty()) return;
  const int rows = rows_that_stand();
  const std::string up = fmt::format("\x1b[{}A\r", rows);
  std::string text = up;
  for (int row = 0; row < rows; ++row) text += "\x1b[K\n";
  tell("{}", Layout{text + up});
  widths_.clear();
}

}  // namespace eureka
