#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace eureka {

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool use_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return is_terminal(descriptor) && (no_colour == nullptr || *no_colour == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

int terminal_columns(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

ProgressBar::ProgressBar(std::string label, std::uint64_t total)
    : label_(std::move(label)),
      total_(std::max<std::uint64_t>(total, 1)),
      live_(is_terminal(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_ - std::chrono::hours(1)) {}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::update(std::uint64_t done, const std::string& note) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  const auto pause = live_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
  if (now - last_draw_ < pause && done < total_) return;
  last_draw_ = now;
  draw(done, note);
}

void ProgressBar::draw(std::uint64_t done, const std::string& note) {
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string eta = share >= 1  ? format_duration(elapsed)
                          : share > 0 ? "ETA " + format_duration(elapsed * (1 - share) / share)
                                      : "ETA -";
  last_drawn_ = done;
  if (!live_) {
    fmt::print(stderr, "{}: {}/{} {} {}\n", label_, done, total_, eta, note);
    return;
  }
  const int width = std::clamp(terminal_columns(STDERR_FILENO) - 60, 10, 40);
  const int filled = static_cast<int>(share * width + 0.5);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {} {}/{} {} {}", label_, bar, done, total_, eta, note);
  std::fflush(stderr);
}

void ProgressBar::finish() {
  if (std::exchange(finished_, true)) return;
  if (live_ && last_drawn_ > 0) fmt::print(stderr, "\n");
}

}  // namespace eureka
