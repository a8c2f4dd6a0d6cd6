// A report as one HTML file: sections of text and figures. No network, complete without a script; light and dark, on
// screens and paper.
//
//   PageSection section{.name = "cures", .title = "cures"};
//   section.add_html(paragraph("130 runs"));
//   section.add_figure(survival);
//   atomic_write("report.html", page_html({section}));
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/bundle.h"
#include "report/report_figure.h"

namespace eureka {

struct PageBlock {
  std::string html;
  std::optional<ReportFigure> figure;
};

struct PageSection {
  std::string name;  // told apart from the others: an anchor, and in front of names of figures
  std::string title;
  std::vector<PageBlock> blocks;

  void add_html(std::string html) { blocks.push_back({std::move(html), {}}); }
  void add_figure(ReportFigure figure) { blocks.push_back({{}, std::move(figure)}); }
};

// With the script that makes figures interactive, where there is one, and the data it needs.
std::string page_html(const std::vector<PageSection>& sections, const PageBundle& bundle = report_bundle());

// Pieces of HTML from text that may hold anything.
std::string paragraph(const std::string& text, const char* style = "");
std::string heading(const std::string& text);
std::string code_block(const std::string& text);
// A line that opens what is below it.
std::string folded(const std::string& line, const std::string& html);
// What is missing or damaged; nothing when all is well.
std::string problem_list(const std::vector<std::string>& problems);
std::string definitions(const std::vector<std::pair<std::string, std::string>>& terms);

// Cells are text, but for the swatch in front of a row's first one.
struct HtmlRow {
  std::vector<std::string> cells;
  std::optional<figure::Color> swatch = {};
  bool stands_out = false;
};
enum class TableOf { numbers, texts };
std::string html_table(const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows, TableOf kind);

}  // namespace eureka
