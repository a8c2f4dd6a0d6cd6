// What the program may assume of the place it prints to.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace eureka {

bool is_terminal(int descriptor);

// Colour only on a terminal, and never when NO_COLOR is set or TERM is "dumb".
bool use_colour(int descriptor);

int terminal_columns(int descriptor);

// "48s", "3m 05s", "2h 07m"
std::string format_duration(double seconds);

// A one-line bar with an ETA on stderr: redrawn in place on a terminal, a plain line every so often elsewhere.
//
//   ProgressBar bar("cures", 50);
//   bar.update(done, "softmax 3/10");
//   bar.finish();
class ProgressBar {
 public:
  ProgressBar(std::string label, std::uint64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::uint64_t done, const std::string& note = {});
  void finish();

 private:
  void draw(std::uint64_t done, const std::string& note);

  std::string label_;
  std::uint64_t total_;
  std::uint64_t last_drawn_ = 0;
  bool live_;
  bool finished_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace eureka
