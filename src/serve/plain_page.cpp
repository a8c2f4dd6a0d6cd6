#include "serve/plain_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/embedded.h"
#include "figure/markup.h"
#include "figure/palette.h"
#include "serve/index_json.h"
#include "serve/request_target.h"

namespace eureka::serve {
namespace {

using figure::escaped;

constexpr std::size_t kMostRows = 5000;

std::string cell(const std::string& html) { return "<td>" + html + "</td>"; }

std::string link(const char* place, const std::string& id, const char* more, const std::string& words) {
  return fmt::format("<a href=\"{}?id={}{}\">{}</a>", place, percent_encoded(id), more, escaped(words));
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

std::string time_of(std::int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  std::tm parts{};
  if (nanoseconds == 0 || ::gmtime_r(&seconds, &parts) == nullptr) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

std::string table(const std::vector<const char*>& heads, const std::string& rows) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table class=\"left "
      "list\">\n<thead><tr>";
  for (const char* head : heads) html += fmt::format("<th scope=\"col\">{}</th>", head);
  return html + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string shown_id(const std::string& id, const std::string& root) { return id == "." ? root : id; }

std::string study_row(const IndexEntry& entry, const std::string& root) {
  const StudyFacts& study = *entry.of_study;
  const std::size_t ended = std::max(study.ended.value_or(0), entry.trials_ended);
  std::string row = "<tr>" + cell(link("/report", entry.id, "", shown_id(entry.id, root)));
  row += fmt::format("<td class=\"wide\">{}</td>", escaped(study.question.empty() ? "-" : study.question));
  row += cell(study_status(entry));
  row += cell(fmt::format("{} of {}", ended, study.planned ? std::to_string(*study.planned) : "?"));
  row += cell(fmt::format("{} {} {}", link("/api/figure", entry.id, "&amp;name=curves", "curves"),
                          link("/api/figure", entry.id, "&amp;name=survival", "survival"),
                          link("/api/figure", entry.id, "&amp;name=speedup", "speed-up")));
  return row + cell(time_of(entry.changed)) + "</tr>\n";
}

std::string run_row(const IndexEntry& entry, const std::string& root) {
  const RunFacts& run = *entry.run;
  const auto text = [](const std::string& value) { return cell(escaped(value.empty() ? "-" : value)); };
  std::string row = "<tr>" + cell(link("/report", entry.id, "", shown_id(entry.id, root)));
  row += text(run.task) + text(run.rule) + cell(run.seed ? std::to_string(*run.seed) : "-");
  row += cell(escaped(run.is_damaged ? run.status + ", damaged" : run.status));
  row += cell(run.has_stopped_at_moment()
                  ? fmt::format("{}, stopped at its moment", *run.updates)
                  : fmt::format("{} of {}", number(run.metrics.step), run.steps ? std::to_string(*run.steps) : "?"));
  row += cell(number(run.metrics.last)) + cell(number(run.metrics.best)) +
         cell(run.moment ? fmt::format("{:.0f}", *run.moment) : "-");
  row += cell(link("/api/figure", entry.id, "&amp;name=curve", "curve") + " " +
              link("/api/figure", entry.id, "&amp;name=loss", "loss"));
  return row + cell(time_of(entry.changed)) + "</tr>\n";
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

Answer plain_page(const IndexSnapshot& index, const std::string& root) {
  std::string studies, runs;
  std::size_t study_count = 0, run_count = 0;
  for (const IndexEntry& entry : index.entries) {
    if (entry.of_study && ++study_count <= kMostRows) studies += study_row(entry, root);
    if (entry.run && ++run_count <= kMostRows) runs += run_row(entry, root);
  }
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>{0} · Eureka</title>\n<link rel=\"stylesheet\" "
      "href=\"/assets/plain.css\"></head>\n<body>\n<main>\n<h1>{0}</h1>\n<p class=\"muted\">{1} and {2}. A name leads "
      "to "
      "its report. Load the page again to see what is new; times are UTC.</p>\n",
      escaped(root), counted(study_count, "study", "studies"), counted(run_count, "run", "runs"));
  if (study_count + run_count == 0)
    html += "<p>There is no run and no study below this directory yet. eureka train and eureka study make some.</p>\n";
  if (study_count > 0)
    html += "<h2>Studies</h2>\n" + table({"study", "question", "status", "trials", "figures", "changed"}, studies);
  if (run_count > 0)
    html += "<h2>Runs</h2>\n" + table({"run", "task", "rule", "seed", "status", "steps", "last", "best",
                                       "moment (step)", "figures", "changed"},
                                      runs);
  if (std::max(study_count, run_count) > kMostRows)
    html += fmt::format("<p>Only the first {} are listed: serve a directory further down.</p>\n", kMostRows);
  Answer page = text_answer(kHtml, html + "</main>\n</body></html>\n");
  page.policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return page;
}

Answer plain_style() {
  return text_answer("text/css; charset=utf-8", figure::css_colors() + std::string(page_style::files()[0].text));
}

}  // namespace eureka::serve
