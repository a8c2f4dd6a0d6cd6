#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/terminal.h"
#include "lab/study_statistics.h"
#include "report/sections.h"
#include "report/study_figures.h"
#include "stats/p_value_text.h"

namespace eureka {
namespace {

struct ShownStatistic {
  const char* key;
  const char* title;
  bool with_interval = false;
};

constexpr ShownStatistic kByMoment[] = {{"moments", "moments"},           {"rate", "share", true},
                                        {"median", "median step", true},  {"rmst", "mean to budget"},
                                        {"speedup", "speed-up", true},    {"hazard_ratio", "hazard ratio"},
                                        {"logrank_p", "log-rank p"},      {"steps_to_target_median", "to target"},
                                        {"final_accuracy", "final value"}};
constexpr ShownStatistic kByTarget[] = {
    {"reached_target", "reached"},    {"moments", "moments"},      {"rate", "share", true},
    {"median", "median step", true},  {"rmst", "mean to budget"},  {"speedup", "speed-up", true},
    {"hazard_ratio", "hazard ratio"}, {"logrank_p", "log-rank p"}, {"final_accuracy", "final value"}};

std::vector<ShownStatistic> shown_of(const StudyRecord& record) {
  return record.awaits_target ? std::vector<ShownStatistic>(std::begin(kByTarget), std::end(kByTarget))
                              : std::vector<ShownStatistic>(std::begin(kByMoment), std::end(kByMoment));
}

// Numbers near 1 need decimals, steps do not.
std::string formatted(const char* key, double value) {
  static const std::set<std::string_view> kRatios = {"rate", "speedup", "hazard_ratio"};
  if (key == std::string_view("logrank_p")) return p_value_text(value);
  if (key == std::string_view("final_accuracy")) return fmt::format("{:.3f}", value);
  return fmt::format(fmt::runtime(kRatios.contains(key) ? "{:.2f}" : "{:.0f}"), value);
}

std::string cell_of(const RecordedArm& arm, const ShownStatistic& shown, bool is_baseline) {
  const std::optional<double> value = arm.number(shown.key);
  if (is_baseline && !value) return shown.key == std::string_view("speedup") ? "1" : "";
  if (shown.key == std::string_view("hazard_ratio") && !value) {
    const OpenInterval ends = arm.interval(shown.key);
    return ends.low ? fmt::format(">{:.2f}", *ends.low) : ends.high ? fmt::format("<{:.2f}", *ends.high) : "-";
  }
  if (!value) return "-";
  if (shown.key == std::string_view("moments") || shown.key == std::string_view("reached_target"))
    return fmt::format("{:.0f}/{:.0f}", *value, arm.number("n").value_or(0));
  std::string text = formatted(shown.key, *value);
  const OpenInterval ends = arm.interval(shown.key);
  if (!shown.with_interval || (!ends.low && !ends.high)) return text;
  const auto end = [&](const std::optional<double>& one, const char* open) {
    return one ? formatted(shown.key, *one) : open;
  };
  return fmt::format("{} [{}, {}]", text, end(ends.low, "sooner"), end(ends.high, "later"));
}

std::string statistics_table(const StudyRecord& record, std::size_t point, ArmTones& tones) {
  const std::vector<ShownStatistic> shown = shown_of(record);
  std::vector<std::string> heads = {"arm", "verdict"};
  for (const ShownStatistic& one : shown)
    heads.push_back(one.with_interval ? fmt::format("{} [95%]", one.title) : one.title);
  std::vector<HtmlRow> rows;
  for (const std::string& name : record.arm_names) {
    const RecordedArm* arm = record.find(name, point);
    if (arm == nullptr) continue;
    std::string verdict = arm->verdict_kind;
    std::replace(verdict.begin(), verdict.end(), '_', ' ');
    HtmlRow row{{name, std::move(verdict)}, tones.of(name).color, name == record.baseline};
    for (const ShownStatistic& one : shown) row.cells.push_back(cell_of(*arm, one, name == record.baseline));
    rows.push_back(std::move(row));
  }
  return html_table(heads, rows, TableOf::numbers);
}

std::string column_meanings(const StudyRecord& record) {
  std::vector<std::pair<std::string, std::string>> terms;
  for (const ShownStatistic& one : shown_of(record)) terms.emplace_back(one.title, arm_statistic(one.key).help);
  terms.emplace_back(
      "verdict",
      "sooner or later: the log-rank test, corrected over the arms, tells the arm from the baseline "
      "(5%); never: so, and no run of the arm gets there; different: so, but which is sooner on the whole is "
      "not shown; alike: no difference, and a large one is ruled out; inconclusive: a large one is not; "
      "gradual: the arm learns without a moment, so it is not compared by one");
  terms.emplace_back("[95%]", "interval at 95%; \"later\" is an end beyond what was observed");
  terms.emplace_back("> and <", "of a hazard ratio without an estimate: the end of its interval that there is");
  return folded("What each column means", definitions(terms));
}

// Of many arms the table says more at a glance.
constexpr std::size_t kManyArms = 15;

std::string verdicts(const StudyRecord& record, std::size_t point) {
  std::string items;
  for (const std::string& name : record.arm_names) {
    const RecordedArm* arm = record.find(name, point);
    if (arm == nullptr) continue;
    items += "<li>" + paragraph(arm->verdict);
    if (!arm->causal_verdict.empty()) items += paragraph(arm->causal_verdict);
    items += "</li>\n";
  }
  const std::string list = fmt::format("<ul class=\"verdicts\">\n{}</ul>\n", items);
  return record.arm_names.size() > kManyArms ? folded("Every verdict in words", list) : list;
}

std::string trials_table(const StudyRecord& record) {
  std::vector<HtmlRow> rows;
  const auto number = [](const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : "-";
  };
  for (const RecordedTrial& trial : record.trials)
    rows.push_back({{trial.directory.generic_string(), fmt::format("{}", trial.seed), trial.status,
                     fmt::format("{:.0f}", trial.steps), number(trial.moment, "{:.0f}"),
                     number(trial.steps_to_target, "{:.0f}"), number(trial.final_value, "{:.3f}")}});
  return folded(
      fmt::format("All {} trials that ended", rows.size()),
      html_table({"trial", "seed", "status", "steps", "moment", "to target", "final value"}, rows, TableOf::numbers));
}

// By the first run of each arm that can be read: all seeds share the rest.
std::string arm_settings(const StudyData& study, ArmTones& tones) {
  std::vector<std::string> names = {study.baseline()};
  for (const std::string& arm : study.arm_names())
    if (arm != names.front()) names.push_back(arm);
  std::vector<std::string> found;
  std::vector<const ConfigEntries*> configs;
  for (const std::string& arm : names)
    for (const StudyRun& run : study.runs)
      if (run.arm == arm && !run.run.config.empty()) {
        found.push_back(arm), configs.push_back(&run.run.config);
        break;
      }
  if (configs.empty()) return {};
  const std::vector<std::string> differences = config_differences(configs);
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < found.size(); ++i)
    rows.push_back({{found[i], i == 0                   ? "(what the others are compared with)"
                               : differences[i].empty() ? "nothing"
                                                        : differences[i]},
                    tones.of(found[i]).color,
                    i == 0});
  return heading("In what do the arms differ?") + html_table({"arm", "set differently"}, rows, TableOf::texts);
}

std::vector<std::pair<std::string, std::string>> provenance(const StudyData& study) {
  std::map<std::string, std::size_t> versions, engines, processors;
  std::string first, last;
  double seconds = 0, updates = 0;
  for (const StudyRun& run : study.runs)
    if (run.run.meta) {
      const RunMeta& meta = *run.run.meta;
      ++versions[program_text(meta)];
      if (!meta.processor.empty()) ++processors[meta.processor];
      if (first.empty() || meta.started < first) first = meta.started;
      last = std::max(last, meta.ended);
      ++engines[fmt::format("{} on {}, {}", meta.engine, meta.device, meta.instructions)];
      seconds += meta.seconds_of_last_session, updates += static_cast<double>(meta.updates_done);
    }
  const auto counted = [](const std::map<std::string, std::size_t>& counts) {
    std::string text;
    for (const auto& [name, count] : counts)
      text += fmt::format("{}{}{}", text.empty() ? "" : "; ", name,
                          counts.size() > 1 ? fmt::format(" ({} runs)", count) : "");
    return text.empty() ? "not known" : text;
  };
  std::vector<std::pair<std::string, std::string>> facts = {
      {"eureka", counted(versions)},
      {"engine", counted(engines)},
      {"training",
       fmt::format("{:.0f} updates, {} in the last sessions of all runs", updates, format_duration(seconds))}};
  if (!processors.empty()) facts.emplace_back("processor", counted(processors));
  if (!first.empty()) facts.emplace_back("begun", first);
  if (!last.empty()) facts.emplace_back("ended", last);
  if (study.record)
    facts.emplace(facts.begin(), "base",
                  study.record->base.empty() ? "runs that were there already" : study.record->base);
  return facts;
}

std::string lead(const StudyData& study) {
  if (!study.record) return paragraph(fmt::format("{} runs are there.", study.runs.size()));
  const StudyRecord& record = *study.record;
  std::string html = record.question.empty() ? "" : paragraph(record.question);
  std::string counts = fmt::format("{} {}, {} of {} runs ended", record.arm_names.size(),
                                   record.arm_names.size() == 1 ? "arm" : "arms", record.trials.size(), record.planned);
  if (record.points.size() > 1) counts += fmt::format(", {} points of the axes", record.points.size());
  return html +
         paragraph(fmt::format("{}; {} is what the others are compared with.", counts, record.baseline), "muted");
}

}  // namespace

PageSection study_section(const StudyData& study, ArmTones& tones) {
  PageSection section{.name = study.name, .title = fmt::format("Study {}", study.name), .blocks = {}};
  if (!study.baseline().empty()) tones.set_baseline(study.baseline());
  section.add_html(lead(study) + problem_list(study.problems));
  if (study.record)
    for (std::size_t point = 0; point < study.record->points.size(); ++point) {
      const RecordedPoint& where = study.record->points[point];
      section.add_html(
          heading(where.name.empty() ? "What was found?" : fmt::format("What was found at {}?", where.name)) +
          verdicts(*study.record, point) + statistics_table(*study.record, point, tones) +
          paragraph(fmt::format("Budget: {:.0f} steps.{}", where.budget,
                                where.target ? fmt::format(" Target: {} {:.3f}{}.", where.metric, *where.target,
                                                           where.target_arm.empty()
                                                               ? ""
                                                               : ", from the final value of " + where.target_arm)
                                             : ""),
                    "muted"));
    }
  if (study.record) section.add_html(column_meanings(*study.record));
  for (ReportFigure& figure : study_figures(study, tones)) section.add_figure(std::move(figure));
  section.add_html(arm_settings(study, tones));
  section.add_html(heading("How is it repeated?"));
  if (!study.study_toml.empty())
    section.add_html(code_block(fmt::format("eureka study {} --out again", (study.directory / "study.toml").string())) +
                     folded("study.toml: the study as it was run", code_block(study.study_toml)));
  if (study.record) section.add_html(trials_table(*study.record));
  section.add_html(heading("Where does it come from?") + definitions(provenance(study)));
  return section;
}

}  // namespace eureka
