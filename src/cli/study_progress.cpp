#include "cli/study_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/terminal.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = 200ms;
constexpr auto kPlainLineEvery = 10s;
constexpr std::size_t kMostRows = 40;

}  // namespace

StudyProgress::StudyProgress(std::string label, const Study& study, const std::vector<Trial>& trials, int jobs)
    : label_(std::move(label)),
      study_(study),
      trials_(trials),
      jobs_(jobs),
      live_(is_terminal(STDERR_FILENO)),
      start_(Clock::now()),
      last_draw_(start_) {
  for (const Trial& trial : trials) {
    Cell& cell = cells_[{trial.point, trial.arm}];
    ++cell.total;
    cell.horizon = static_cast<double>(trial.config.train.steps - (trial.origin ? trial.origin->step : 0));
  }
}

void StudyProgress::on_ended(const TrialRow& row, double seconds) {
  Cell& cell = cells_[{row.point, row.arm}];
  ++cell.ended;
  ++ended_;
  if (seconds > 0) {
    cell.seconds += seconds;
    ++cell.timed;
  }
  cell.outcomes.push_back(outcome_of(row));
}

void StudyProgress::on_failure(const Trial& trial, const std::string& reason, bool will_retry) {
  if (!will_retry) ++failed_;
  say(fmt::format("eureka: {}: {}{}", trial.directory.string(), reason, will_retry ? "; trying once more" : ""));
}

// Trials of an arm take about as long as those of it that have ended; of an arm that has none, as long as any.
double StudyProgress::seconds_left(const std::vector<std::pair<std::size_t, double>>& running) const {
  double seconds = 0, timed = 0;
  for (const auto& [key, cell] : cells_) {
    seconds += cell.seconds;
    timed += static_cast<double>(cell.timed);
  }
  if (timed == 0) return -1;
  const auto expected = [&](const Cell& cell) {
    return cell.timed > 0 ? cell.seconds / static_cast<double>(cell.timed) : seconds / timed;
  };
  double left = 0;
  for (const auto& [key, cell] : cells_) left += static_cast<double>(cell.total - cell.ended) * expected(cell);
  for (const auto& [trial, so_far] : running)
    left -= std::min(so_far, expected(cells_.at({trials_[trial].point, trials_[trial].arm})));
  return std::max(0.0, left) / jobs_;
}

std::string StudyProgress::status_line(const std::vector<std::pair<std::size_t, double>>& running) const {
  const double left = seconds_left(running);
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  return fmt::format("{} · {}/{} done{} · {} · ETA {}", label_, ended_, trials_.size(),
                     failed_ > 0 ? fmt::format(", {} failed", failed_) : "", format_duration(elapsed),
                     ended_ + failed_ == trials_.size() ? "now"
                     : left < 0                         ? "-"
                                                        : format_duration(left));
}

std::string StudyProgress::table() const {
  TextTable table({{"arm", Align::left}, {"done"}, {"moments"}, {"median so far"}});
  for (const auto& [key, cell] : cells_) {
    const std::string& point = study_.points[key.first].name;
    const ArmSummary summary = summarise_arm(cell.outcomes, cell.horizon);
    table.add_row(
        {point.empty() ? study_.arms[key.second].name : fmt::format("{} {}", point, study_.arms[key.second].name),
         fmt::format("{}/{}", cell.ended, cell.total), fmt::format("{}", summary.moments),
         summary.moment.median ? fmt::format("{:.0f}", *summary.moment.median) : "-"});
  }
  return table.str(use_colour(STDERR_FILENO));
}

void StudyProgress::on_tick(const std::vector<std::pair<std::size_t, double>>& running) {
  const auto now = Clock::now();
  if (now - last_draw_ < (live_ ? Clock::duration(kRedrawEvery) : Clock::duration(kPlainLineEvery))) return;
  last_draw_ = now;
  if (!live_) {
    fmt::print(stderr, "{}\n", status_line(running));
    return;
  }
  const std::string frame = (cells_.size() <= kMostRows ? table() : "") + status_line(running) + "\n";
  finish();
  lines_drawn_ = static_cast<int>(std::count(frame.begin(), frame.end(), '\n'));
  fmt::print(stderr, "{}", frame);
  std::fflush(stderr);
}

void StudyProgress::say(const std::string& line) {
  finish();
  fmt::print(stderr, "{}\n", line);
}

void StudyProgress::finish() {
  // Up over the last frame, then clear what is below.
  if (lines_drawn_ > 0) fmt::print(stderr, "\x1b[{}A\r\x1b[J", lines_drawn_);
  lines_drawn_ = 0;
}

}  // namespace eureka::cli
