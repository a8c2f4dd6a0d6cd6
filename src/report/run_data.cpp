#include "report/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/metrics_reader.h"

namespace eureka {
namespace {

constexpr std::uint64_t kMostConfigBytes = 16 << 20;

// What `read` gives, or a sentence that says why there is nothing.
template <class Read>
auto tolerate(RunData& run, const char* file, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error& error) {
    run.problems.push_back(fmt::format("{} cannot be read: {}", file, error.what()));
  } catch (const fs::filesystem_error& error) {
    run.problems.push_back(fmt::format("{} cannot be read: {}", file, error.code().message()));
  }
  return {};
}

void read_records(RunData& run) {
  const auto is_there = [&](const char* file) { return fs::exists(run.directory / file); };
  if (is_there("meta.json"))
    run.meta = tolerate(run, "meta.json", [&] { return std::optional(read_meta(run.directory)); });
  else
    run.problems.emplace_back("meta.json is missing: who ran it, and how, is not known");
  if (is_there("summary.json"))
    run.summary = tolerate(run, "summary.json", [&] { return read_summary(run.directory); });
  else
    run.problems.emplace_back(run.meta && run.meta->status == RunStatus::running
                                  ? "summary.json is missing: the run has not ended, or was killed"
                                  : "summary.json is missing: the run has not ended");
  if (is_there("config.toml")) {
    run.config_text =
        tolerate(run, "config.toml", [&] { return read_file(run.directory / "config.toml", kMostConfigBytes); });
    run.config = tolerate(run, "config.toml", [&] { return read_toml(run.config_text, "config.toml"); });
  } else {
    run.problems.emplace_back("config.toml is missing: what was run is not known");
  }
  if (is_there("events.jsonl")) run.events = tolerate(run, "events.jsonl", [&] { return read_events(run.directory); });
}

// As the run itself judged, confirmed and withdrew.
void mark_events(RunData& run) {
  for (const RunEvent& event : run.events) {
    if (const auto* plateau = std::get_if<PlateauConfirmed>(&event.what)) {
      auto& known = run.marks.plateaus;
      std::erase_if(known, [&](const PlotPlateau& p) { return p.start == plateau->start; });
      known.push_back({plateau->start, plateau->end, plateau->level});
    }
    if (const auto* moment = std::get_if<MomentConfirmed>(&event.what)) run.marks.moments.push_back({moment->at});
    if (std::holds_alternative<MomentWithdrawn>(event.what) && !run.marks.moments.empty()) run.marks.moments.pop_back();
  }
}

// The summary knows the whole curve.
void mark_summary(RunData& run) {
  if (!run.summary) return;
  if (const auto& moment = run.summary->moment) {
    auto& known = run.marks.moments;
    const auto nearest = std::min_element(known.begin(), known.end(), [&](const PlotMoment& a, const PlotMoment& b) {
      return std::abs(a.step - moment->step) < std::abs(b.step - moment->step);
    });
    if (nearest != known.end())
      nearest->step = moment->step;
    else
      known.push_back({moment->step});
  }
  if (run.summary->stuck_level && run.summary->first_rise)
    run.marks.plateaus.push_back(
        {run.summary->first_rise->rise_end, static_cast<double>(run.summary->steps), *run.summary->stuck_level});
  if (run.summary->first_rise) run.marks.rises.push_back({run.summary->first_rise->step, "first rise"});
  if (run.summary->grokking) run.marks.rises.push_back({run.summary->grokking->step, "grokking"});
  run.shows_grokking = run.summary->grokking.has_value();
}

// Around each moment, so that its rise is drawn from every evaluation there was.
std::vector<figure::Stretch> stretches_around(const RunData& run) {
  std::vector<figure::Stretch> stretches;
  const auto add = [&](double from, double to) {
    const double room = std::max(to - from, 1.0) * 2;
    stretches.push_back({from - room, to + room});
  };
  if (run.summary && run.summary->moment) add(run.summary->moment->rise_start, run.summary->moment->rise_end);
  for (const PlotMoment& moment : run.marks.moments)
    if (!run.summary || !run.summary->moment || moment.step != run.summary->moment->step)
      add(moment.step * 0.98, moment.step * 1.02);
  return stretches;
}

std::string shown_name(const fs::path& directory) {
  const fs::path whole = fs::absolute(directory).lexically_normal();
  const std::string last = whole.filename().string();
  return last.empty() ? whole.parent_path().filename().string() : last;
}

}  // namespace

const RunCurve* RunData::find(std::string_view column) const {
  const auto found = std::find_if(curves.begin(), curves.end(), [&](const RunCurve& c) { return c.name == column; });
  return found == curves.end() ? nullptr : &*found;
}

const std::vector<figure::Point>& RunData::metric_curve() const {
  static const std::vector<figure::Point> none;
  const RunCurve* curve = find(metric);
  return curve != nullptr ? curve->points : none;
}

std::optional<double> RunData::moment() const {
  if (summary) return summary->moment ? std::optional(summary->moment->step) : std::nullopt;
  return marks.moments.empty() ? std::nullopt : std::optional(marks.moments.back().step);
}

bool is_run_directory(const fs::path& directory) {
  return fs::exists(directory / "metrics.jsonl") || fs::exists(directory / "summary.json") ||
         (fs::exists(directory / "config.toml") && fs::exists(directory / "meta.json"));
}

RunData read_run(const fs::path& directory, const RunReadOptions& options) {
  RunData run;
  run.directory = directory;
  run.name = shown_name(directory);
  read_records(run);
  mark_events(run);
  mark_summary(run);
  if (!fs::exists(directory / "metrics.jsonl")) {
    run.problems.emplace_back("metrics.jsonl is missing: there are no curves");
    return run;
  }
  if (!options.with_curves) return run;
  tolerate(run, "metrics.jsonl", [&] {
    MetricsReader reader(options.most_points, stretches_around(run), options.only_metric);
    reader.read(directory / "metrics.jsonl");
    run.metric = reader.metric();
    run.rows = reader.rows();
    run.curves = reader.take_curves();
    for (std::string& problem : reader.problems()) run.problems.push_back(std::move(problem));
    return 0;
  });
  return run;
}

}  // namespace eureka
