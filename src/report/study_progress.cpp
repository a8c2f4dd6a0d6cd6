#include "report/study_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "base/terminal.h"
#include "report/table.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = 200ms;
constexpr auto kPlainLineEvery = 10s;
constexpr std::size_t kFewestRows = 3;  // of arms; where fewer would fit there is the line of status alone
constexpr int kFewestColumns = 30;

}  // namespace

StudyProgress::StudyProgress(const std::atomic<bool>& stop)
    : stop_(stop), live_(is_terminal(STDERR_FILENO)), last_draw_(Clock::now()) {}

void StudyProgress::on_event(const StudyEvent& event) {
  if (const auto* planned = std::get_if<TrialsPlanned>(&event)) begin(*planned);
  if (const auto* end = std::get_if<TrialEnded>(&event)) count(*end);
  if (const auto* progress = std::get_if<TrialsProgress>(&event)) draw(progress->running);
  if (const auto* retried = std::get_if<TrialRetried>(&event))
    complain(retried->trial, retried->reason + "; trying once more");
  if (const auto* damaged = std::get_if<TrialDamaged>(&event))
    complain(damaged->trial, fmt::format("damaged ({}); it runs again", damaged->reason));
  if (const auto* failed = std::get_if<TrialFailed>(&event)) {
    ++phase_.failed;
    complain(failed->trial, failed->reason);
  }
  if (std::holds_alternative<TrialsDone>(event)) put_away();
}

void StudyProgress::begin(const TrialsPlanned& planned) {
  phase_ = {.name = planned.phase,
            .study = &planned.study,
            .cells = {},
            .total = planned.trials.size(),
            .at_a_time = planned.at_a_time,
            .start = Clock::now()};
  last_draw_ = phase_.start;
  for (const Trial& trial : planned.trials) {
    Cell& cell = phase_.cells[{trial.point, trial.arm}];
    ++cell.total;
    cell.horizon = static_cast<double>(trial.config.train.steps - (trial.origin ? trial.origin->step : 0));
  }
}

void StudyProgress::count(const TrialEnded& end) {
  Cell& cell = phase_.cells[{end.trial.point, end.trial.arm}];
  ++cell.ended;
  ++phase_.ended;
  if (end.seconds > 0) {
    cell.seconds += end.seconds;
    ++cell.timed;
  }
  cell.outcomes.push_back(outcome_of(with_target(end)));
}

// A curve that cannot be read is the report's to complain of.
TrialRow StudyProgress::with_target(const TrialEnded& end) const {
  TrialRow row = end.row;
  if (!phase_.study->target) return row;
  try {
    const Metric metric = metric_of(end.trial.config);
    row.steps_to_level =
        first_step_at(metric_curve(end.trial.directory, metric), metric, *phase_.study->target, row.origin);
  } catch (const Error&) {
    row.steps_to_level.reset();
  }
  return row;
}

// Trials of an arm take about as long as those of it that have ended; of an arm that has none, as long as any.
double StudyProgress::seconds_left(const std::vector<TrialState>& running) const {
  double seconds = 0, timed = 0;
  for (const auto& [key, cell] : phase_.cells) {
    seconds += cell.seconds;
    timed += static_cast<double>(cell.timed);
  }
  if (timed == 0) return -1;
  const auto expected = [&](const Cell& cell) {
    return cell.timed > 0 ? cell.seconds / static_cast<double>(cell.timed) : seconds / timed;
  };
  double left = 0;
  for (const auto& [key, cell] : phase_.cells) left += static_cast<double>(cell.total - cell.ended) * expected(cell);
  for (const TrialState& state : running)
    left -= std::min(state.seconds, expected(phase_.cells.at({state.trial->point, state.trial->arm})));
  return std::max(0.0, left) / static_cast<double>(phase_.at_a_time);
}

std::string StudyProgress::status_line(const std::vector<TrialState>& running) const {
  const double left = seconds_left(running);
  const double elapsed = std::chrono::duration<double>(Clock::now() - phase_.start).count();
  return fmt::format("{} · {}/{} done{} · {} · ETA {}", phase_.name, phase_.ended, phase_.total,
                     phase_.failed > 0 ? fmt::format(", {} failed", phase_.failed) : "", format_duration(elapsed),
                     phase_.ended + phase_.failed == phase_.total ? "now"
                     : left < 0                                   ? "-"
                                                                  : format_duration(left));
}

std::string StudyProgress::table(const WindowSize& window, bool color) const {
  // The lines of heading, of status, and that of the cursor.
  const std::size_t room = static_cast<std::size_t>(std::max(0, window.rows - 3));
  if (window.columns < kFewestColumns || room < std::min(phase_.cells.size(), kFewestRows + 1)) return "";
  const std::size_t shown = phase_.cells.size() <= room ? phase_.cells.size() : room - 1;
  // Arms that have ended make room for those that have not.
  std::size_t skipped = 0;
  for (auto cell = phase_.cells.begin();
       cell != phase_.cells.end() && skipped + shown < phase_.cells.size() && cell->second.ended == cell->second.total;
       ++cell)
    ++skipped;
  // A target relative to the baseline is not known before the baseline has ended.
  const bool by_target = phase_.study->event == AwaitedEvent::target && phase_.study->target;
  TextTable table({{"arm", Align::left}, {"done"}, {by_target ? "reached" : "moments"}, {"median so far"}});
  auto next = std::next(phase_.cells.begin(), static_cast<std::ptrdiff_t>(skipped));
  for (std::size_t row = 0; row < shown; ++row, ++next) {
    const auto& [key, cell] = *next;
    const std::string& point = phase_.study->points[key.first].name;
    const std::string& arm = phase_.study->arms[key.second].name;
    const ArmSummary summary = summarize_arm(cell.outcomes, cell.horizon,
                                             {.awaited = by_target ? AwaitedEvent::target : AwaitedEvent::moment});
    table.add_row({point.empty() ? arm : fmt::format("{} {}", point, arm), fmt::format("{}/{}", cell.ended, cell.total),
                   fmt::format("{}", summary.event.events),
                   summary.event.median ? fmt::format("{:.0f}", *summary.event.median) : "-"});
  }
  TableStyle style{.bold_header = color};
  const int over = table.width(style) - window.columns;
  if (over > 0) {
    style.gap = 1;
    const TableStyle narrow{.gap = 1, .most_of_first = 1};
    style.most_of_first = std::max(1, window.columns - table.width(narrow) + 1);
  }
  std::string text = table.str(style);
  if (shown < phase_.cells.size())
    text += fmt::format(" … and {} more{}\n", phase_.cells.size() - shown,
                        skipped > 0 ? fmt::format(", {} of them done, above", skipped) : "");
  return text;
}

std::string StudyProgress::frame(const std::vector<TrialState>& running, const WindowSize& window, bool color) const {
  return fitted(table(window, color) + status_line(running) + "\n", window);
}

void StudyProgress::draw(const std::vector<TrialState>& running) {
  const auto now = Clock::now();
  if (stop_.load() || now - last_draw_ < (live_ ? Clock::duration(kRedrawEvery) : Clock::duration(kPlainLineEvery)))
    return;
  last_draw_ = now;
  if (live_)
    frame_.show(frame(running, frame_.window(), use_color(STDERR_FILENO)));
  else
    tell("{}\n", status_line(running));
}

void StudyProgress::put_away() {
  if (stop_.load())
    frame_.leave();
  else
    frame_.clear();
}

void StudyProgress::complain(const Trial& trial, const std::string& what) {
  put_away();
  tell("eureka: {}: {}\n", trial.directory.string(), what);
}

}  // namespace eureka
