#include <fmt/format.h>

#include "base/terminal.h"
#include "report/curve_figures.h"
#include "report/run_figures.h"
#include "report/sections.h"
#include "train/watched_run.h"

namespace eureka {
namespace {

std::string value_text(const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : "none"; }

// How it ended, in sentences.
std::string outcome(const RunData& run) {
  if (!run.summary)
    return run.meta ? fmt::format("It stands at {}, after {} updates.", status_name(run.meta->status),
                                  run.meta->updates_done)
                    : "How it stands is not known.";
  const RunSummary& summary = *run.summary;
  std::string text = fmt::format("{} after {} steps; {} {}.", status_name(summary.status), summary.steps,
                                 metric_label(run.metric.empty() ? "val_" + summary.metric : run.metric),
                                 value_text(summary.final_validation_metric));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (const auto& moment = summary.moment)
    return text +
           fmt::format(" Eureka-moment at step {:.0f}: from {:.3f} to {:.3f}, 10-90% in {:.0f} steps (score {:.2f}).",
                       moment->step, moment->plateau_level, moment->level_after, moment->rise_width(), moment->score);
  if (const auto& grok = summary.grokking)
    return text + fmt::format(" Grokking at step {:.0f}, long after training was solved: no moment.", grok->step);
  if (summary.under_way) return text + " No moment yet: the run ended in a rise off the plateau.";
  if (summary.stuck_level)
    return text + fmt::format(" No moment: still on the plateau at {:.3f}.", *summary.stuck_level);
  return text + " No moment, and no plateau to leave.";
}

std::vector<std::pair<std::string, std::string>> provenance(const RunData& run) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (run.summary) {
    facts.emplace_back("task, model, attention",
                       fmt::format("{}, {}, {}", run.summary->task, run.summary->model, run.summary->attention));
    facts.emplace_back("parameters", fmt::format("{}", run.summary->parameters));
    facts.emplace_back("seed", fmt::format("{}", run.summary->seed));
  }
  if (run.meta) {
    facts.emplace_back("eureka", program_text(*run.meta));
    if (!run.meta->command.empty()) facts.emplace_back("command", command_text(run.meta->command));
    if (!run.meta->started.empty()) facts.emplace_back("started", run.meta->started);
    if (!run.meta->processor.empty()) facts.emplace_back("processor", run.meta->processor);
    facts.emplace_back(
        "engine", fmt::format("{} on {}, {}, {} thread{}", run.meta->engine, run.meta->device, run.meta->instructions,
                              run.meta->threads, run.meta->threads == 1 ? "" : "s"));
    if (!run.meta->why_not_fused.empty()) facts.emplace_back("not fused because", run.meta->why_not_fused);
    facts.emplace_back("last session", format_duration(run.meta->seconds_of_last_session));
  }
  facts.emplace_back("rows of metrics", fmt::format("{}", run.rows));
  return facts;
}

}  // namespace

std::string program_text(const RunMeta& meta) {
  return meta.commit.empty() ? meta.version : fmt::format("{} ({})", meta.version, meta.commit);
}

std::string command_text(const std::string& command) {
  const std::size_t folder = command.substr(0, command.find(' ')).rfind('/');
  return folder == std::string::npos ? command : command.substr(folder + 1);
}

PageSection run_section(const RunData& run) {
  PageSection section{.name = run.name, .title = fmt::format("Run {}", run.name), .blocks = {}};
  section.add_html(paragraph(outcome(run)));
  section.add_html(problem_list(run.problems));
  for (ReportFigure& figure : run_figures(run)) section.add_figure(std::move(figure));
  section.add_html(heading("How is it repeated?"));
  if (run.config_text.empty()) {
    section.add_html(paragraph("Without its config it cannot be."));
  } else if (run.config.contains(kWatchedProgram)) {
    section.add_html(paragraph("By the program that trained it: eureka only watched."));
    section.add_html(folded("config.toml: what was watched", code_block(run.config_text)));
  } else {
    section.add_html(
        code_block(fmt::format("eureka train {} --out again        # the same bytes, or with the config below as a "
                               "file:\neureka train config.toml --out again",
                               run.directory.string())));
    section.add_html(folded("config.toml: every setting of the run", code_block(run.config_text)));
  }
  section.add_html(heading("Where does it come from?") + definitions(provenance(run)));
  return section;
}

PageSection comparison_section(const std::vector<RunData>& runs, ArmTones& tones) {
  PageSection section{.name = "side-by-side", .title = fmt::format("{} runs side by side", runs.size()), .blocks = {}};
  GroupFigureSubject subject{{}, runs.front().name, "", ""};
  std::vector<const ConfigEntries*> configs;
  for (const RunData& run : runs) {
    subject.groups.push_back({run.name, {&run}});
    configs.push_back(&run.config);
  }
  tones.set_baseline(subject.baseline);
  section.add_figure(medians_figure(subject, tones));
  if (ReportFigure aligned = aligned_figure(subject, tones); aligned.draw) section.add_figure(std::move(aligned));
  const std::vector<std::string> differences = config_differences(configs);
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i)
    rows.push_back({{runs[i].name, runs[i].moment() ? fmt::format("{:.0f}", *runs[i].moment()) : "none",
                     i == 0                   ? "(what the others are compared with)"
                     : differences[i].empty() ? "nothing"
                                              : differences[i]},
                    tones.of(runs[i].name).color,
                    i == 0});
  section.add_html(heading("In what do they differ?") +
                   html_table({"run", "moment (step)", "set differently from the first"}, rows, TableOf::texts));
  return section;
}

}  // namespace eureka
