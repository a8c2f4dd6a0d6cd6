#include "report/study_survival.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/survival_plot.h"

namespace eureka {
namespace {

constexpr std::size_t kMostInPicture = 5;

class SurvivalCurves {
 public:
  SurvivalCurves(const StudyReport& report, const PointReport& point, const StudyTextOptions& options)
      : report_(report), point_(point), options_(options) {
    for (std::size_t arm = 0; arm < point.arms.size(); ++arm) by_wait_.push_back(arm);
    std::stable_sort(by_wait_.begin(), by_wait_.end(), [&](std::size_t a, std::size_t b) { return wait(a) < wait(b); });
    choose();
  }

  std::string draw() const {
    const bool by_target = report_.study.event == AwaitedEvent::target;
    const std::string waiting = by_target ? "short of the target" : "without a moment";
    SurvivalPlotOptions plot;
    plot.title = fmt::format("runs still {}, by step{}", waiting,
                             report_.study.branch ? fmt::format("s after step {}", report_.study.branch->at) : "");
    plot.horizon = point_.horizon;
    plot.width = std::clamp(options_.width, 30, 100);
    plot.color = options_.color;
    std::vector<SurvivalSeries> series;
    for (const std::size_t arm : chosen_) series.push_back(series_of(arm));
    std::string text = plot_survival(series, plot);
    if (chosen_.size() == point_.arms.size()) return text;
    std::vector<SurvivalStrip> strips;
    for (const std::size_t arm : by_wait_) {
      const auto place = std::find(chosen_.begin(), chosen_.end(), arm);
      strips.push_back(
          {place == chosen_.end() ? ' ' : survival_letter(static_cast<std::size_t>(place - chosen_.begin())),
           series_of(arm)});
    }
    plot.title = "every arm, the soonest first: height is the share waiting";
    return text + "\n" + plot_survival_strips(strips, plot);
  }

 private:
  double wait(std::size_t arm) const {
    return point_.arms[arm].statistics.summary.event.restricted_mean.value_or(point_.horizon);
  }
  bool is_baseline(std::size_t arm) const { return arm == report_.study.baseline; }

  SurvivalSeries series_of(std::size_t arm) const {
    const ArmReport& statistics = point_.arms[arm].statistics;
    const char* note = statistics.kind == VerdictKind::gradual ? " (does not compare)" : "";
    return {statistics.name + note, &statistics.summary.event.curve, is_baseline(arm)};
  }

  void add(std::size_t arm) {
    if (chosen_.size() < kMostInPicture && std::find(chosen_.begin(), chosen_.end(), arm) == chosen_.end())
      chosen_.push_back(arm);
  }

  void choose() {
    std::vector<std::size_t> comparable;
    for (const std::size_t arm : by_wait_)
      if (point_.arms[arm].statistics.kind != VerdictKind::gradual) comparable.push_back(arm);
    if (point_.arms.size() <= kMostInPicture) {
      for (std::size_t arm = 0; arm < point_.arms.size(); ++arm) add(arm);
      return;
    }
    add(report_.study.baseline);
    for (const std::string& name : options_.curves)
      for (std::size_t arm = 0; arm < point_.arms.size(); ++arm)
        if (point_.arms[arm].statistics.name == name) add(arm);
    if (!options_.curves.empty() || comparable.empty()) return;
    add(comparable.front());
    add(comparable.back());
  }

  const StudyReport& report_;
  const PointReport& point_;
  const StudyTextOptions& options_;
  std::vector<std::size_t> by_wait_, chosen_;
};

}  // namespace

std::string survival_of(const StudyReport& report, const PointReport& point, const StudyTextOptions& options) {
  return SurvivalCurves(report, point, options).draw();
}

}  // namespace eureka
