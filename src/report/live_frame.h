// Something redrawn in place on a terminal, never larger than the window: what moves the cursor up cannot reach lines
// that have scrolled away, and would print itself anew below them.
//
//   LiveFrame frame;                                      asks for the size of the window each time
//   frame.show(picture_that_fits(draw, 14, 4, frame.window()) + status);
//   frame.clear();                                        its place can be taken
//   frame.leave();                                        it stays as it stands, whatever is printed next comes below
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace eureka {

struct WindowSize {
  int columns = 80;
  int rows = 24;
};

// The lines of `frame` that leave the cursor a line of its own, clipped to the columns. What is cut are its first
// lines: the last one tells how far things are.
std::string fitted(const std::string& frame, const WindowSize& window);

// The picture with the most rows of plot, at most `height`, that fits above a line of status; empty if that would leave
// fewer than `least` rows. `draw` makes one with so many rows of plot.
std::string picture_that_fits(const std::function<std::string(int height)>& draw, int height, int least,
                              const WindowSize& window);

// Rows of the window that lines of these widths take; terminals wrap them anew when the window gets narrower.
int rows_taken(const std::vector<int>& widths, int columns);

// On standard error.
class LiveFrame {
 public:
  WindowSize window() const;
  void show(const std::string& frame);
  void clear();
  void leave() { widths_.clear(); }

 private:
  int rows_that_stand() const;

  std::vector<int> widths_;  // of the lines that stand
};

}  // namespace eureka
