// Runs the built program on a terminal of its own, and keeps what a person would see: the screen, and what has
// scrolled away above it.
#pragma once

#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"

namespace eureka {

// As much of a terminal as the program needs: letters of one column, line ends, the cursor up, clearing to the end of
// line and screen.
class TerminalScreen {
 public:
  TerminalScreen(int columns, int rows) : columns_(columns), lines_(static_cast<std::size_t>(rows)) {}

  void take(std::string_view text) {
    pending_ += text;
    std::string_view rest = pending_;
    while (!rest.empty() && take_one(rest)) {
    }
    pending_ = std::string(rest);
  }
  // Lines that have scrolled away, then those of the screen.
  std::vector<std::string> all_lines() const {
    std::vector<std::string> all = scrolled_;
    for (const auto& line : lines_) all.push_back(joined(line));
    return all;
  }
  std::size_t lines_with(std::string_view words) const {
    const std::vector<std::string> all = all_lines();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const std::string& line) { return line.find(words) != std::string::npos; }));
  }

 private:
  using Line = std::vector<std::string>;  // letters

  static std::string joined(const Line& line) {
    std::string text;
    for (const std::string& letter : line) text += letter;
    return text;
  }

  void new_line() {
    if (row_ + 1 < lines_.size()) {
      ++row_;
      return;
    }
    scrolled_.push_back(joined(lines_.front()));
    lines_.erase(lines_.begin());
    lines_.emplace_back();
  }

  // False when the rest is the beginning of something longer.
  bool take_one(std::string_view& text) {
    if (text[0] == '\x1b') return take_escape(text);
    if (text[0] == '\n' || text[0] == '\r') {
      if (text[0] == '\n') new_line();
      if (text[0] == '\r') column_ = 0;
      text.remove_prefix(1);
      return true;
    }
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < length) return false;
    if (column_ == static_cast<std::size_t>(columns_)) new_line(), column_ = 0;
    Line& line = lines_[row_];
    line.resize(std::max(line.size(), column_ + 1), " ");
    line[column_++] = std::string(text.substr(0, length));
    text.remove_prefix(length);
    return true;
  }

  bool take_escape(std::string_view& text) {
    const std::size_t end = text.find_first_of("ABCDHJKmhl", 1);
    if (end == std::string_view::npos) return false;
    const std::size_t number = static_cast<std::size_t>(std::atoi(std::string(text.substr(2, end - 2)).c_str()));
    if (text[end] == 'A') row_ -= std::min(row_, std::max<std::size_t>(1, number));
    if (text[end] == 'K' || text[end] == 'J') lines_[row_].resize(std::min(lines_[row_].size(), column_));
    if (text[end] == 'J')
      for (std::size_t below = row_ + 1; below < lines_.size(); ++below) lines_[below].clear();
    text.remove_prefix(end + 1);
    return true;
  }

  int columns_;
  std::vector<Line> lines_;
  std::vector<std::string> scrolled_;
  std::string pending_;
  std::size_t row_ = 0, column_ = 0;
};

class PseudoTerminal {
 public:
  PseudoTerminal(const std::vector<std::string>& arguments, int columns, int rows) : screen_(columns, rows) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    std::vector<std::string> words = {EUREKA_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() {
    if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
    ::close(terminal_);
  }

  // Reads until so many frames have been drawn since the last call, however slow the machine; false if the program
  // ends before.
  bool wait_for_frames(int count) {
    const std::size_t begin = raw_.size();
    while (frames_since(begin) < count)
      if (!read_some()) return false;
    return true;
  }
  void type(std::string_view keys) const { (void)!::write(terminal_, keys.data(), keys.size()); }
  void resize(int columns, int rows) const {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    ::ioctl(terminal_, TIOCSWINSZ, &size);
  }
  // The exit code, 128 + signal when killed.
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  const TerminalScreen& screen() const { return screen_; }
  // All that was written, movements of the cursor included.
  const std::string& raw() const { return raw_; }

 private:
  int frames_since(std::size_t begin) const {
    int frames = 0;
    for (std::size_t at = raw_.find("\x1b[J", begin); at != std::string::npos; at = raw_.find("\x1b[J", at + 1))
      ++frames;
    return frames;
  }

  bool read_some() {
    char buffer[4096];
    const ssize_t size = ::read(terminal_, buffer, sizeof buffer);
    if (size <= 0) return false;
    const std::string_view text(buffer, static_cast<std::size_t>(size));
    raw_ += text;
    screen_.take(text);
    return true;
  }

  TerminalScreen screen_;
  std::string raw_;
  int terminal_ = -1;
  pid_t child_ = -1;
};

}  // namespace eureka
