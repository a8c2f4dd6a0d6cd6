#include "report/page.h"

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/printable.h"
#include "figure/markup.h"
#include "figure/svg_painter.h"

namespace eureka {
namespace {

using figure::data_link;
using figure::escaped;

std::string anchor_of(const PageSection& section, const ReportFigure& figure) {
  return section.name + "/" + figure.name;
}

// A link to content that the page itself holds.
std::string download(const std::string& label, const std::string& file, std::string_view media_type,
                     std::string_view content) {
  return fmt::format("<a download=\"{}\" href=\"{}\">{}</a>", escaped(file), data_link(media_type, content),
                     escaped(label));
}

// What a sheet of paper holds below a title, in widths of the figure.
constexpr double kSheet = 1.25;

std::string figure_html(const PageSection& section, const ReportFigure& one) {
  const std::string anchor = anchor_of(section, one);
  std::string file = section.name + "-" + one.name;
  // Taller than a sheet: on paper it is parted between its rows, or made to fit; else a browser would cut it anywhere.
  const figure::Drawing drawing = one.draw(figure::Titled::no);
  const double sheet = kSheet * drawing.width;
  const bool is_tall = drawing.height > sheet, is_parted = is_tall && !drawing.breaks.empty();
  const std::string sheets = is_parted ? fmt::format("<div class=\"sheets\" aria-hidden=\"true\">{}</div>\n",
                                                     svg_sheets(drawing, anchor + "/title", sheet))
                                       : "";
  const std::string body = fmt::format(
      "<figure{}><div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div>\n{}"
      "<figcaption>{}</figcaption>\n<p class=\"links\">{}{}</p></figure>\n",
      is_parted ? " class=\"parted\""
      : is_tall ? " class=\"tall\""
                : "",
      escaped(one.title), svg_element(drawing, anchor + "/title"), sheets, escaped(one.caption),
      download("figure as SVG", file + ".svg", "image/svg+xml", svg_file(one.draw(figure::Titled::yes))),
      download("its data as CSV", file + ".csv", "text/csv", one.csv));
  const std::string title = fmt::format("<h3 id=\"{}\">{}</h3>\n", escaped(anchor), escaped(one.title));
  return one.is_folded ? fmt::format("<details><summary>{}</summary>\n{}</details>\n", title, body) : title + body;
}

// Many of them are folded: a page begins with what was found.
std::string contents(const std::vector<PageSection>& sections) {
  constexpr std::size_t kManyFigures = 12;
  std::string html = "<nav aria-label=\"contents\"><ol>\n";
  for (const PageSection& section : sections) {
    std::string figures;
    std::size_t count = 0;
    for (const PageBlock& block : section.blocks)
      if (block.figure && ++count > 0)
        figures += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escaped(anchor_of(section, *block.figure)),
                               escaped(block.figure->title));
    if (!figures.empty()) figures = fmt::format("<ul>\n{}</ul>\n", figures);
    if (count > kManyFigures) figures = folded(fmt::format("{} figures", count), figures);
    html += fmt::format("<li><a href=\"#{}\">{}</a>{}</li>\n", escaped(section.name), escaped(section.title), figures);
  }
  return html + "</ol></nav>\n";
}

}  // namespace

std::string paragraph(const std::string& text, const char* style) {
  return fmt::format("<p{}>{}</p>\n", *style == 0 ? "" : fmt::format(" class=\"{}\"", style), escaped(text));
}

std::string heading(const std::string& text) { return fmt::format("<h3>{}</h3>\n", escaped(text)); }

std::string code_block(const std::string& text) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += escaped(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", lines);
}

std::string folded(const std::string& line, const std::string& html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(line), html);
}

std::string problem_list(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  std::string items;
  for (const std::string& problem : problems) items += fmt::format("<li>{}</li>\n", escaped(problem));
  return fmt::format("<div class=\"problems\"><strong>What is missing here</strong><ul>\n{}</ul></div>\n", items);
}

std::string definitions(const std::vector<std::pair<std::string, std::string>>& terms) {
  std::string items;
  for (const auto& [term, meaning] : terms)
    items += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(meaning));
  return fmt::format("<dl>\n{}</dl>\n", items);
}

std::string html_table(const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows, TableOf kind) {
  std::string html =
      fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table{}>\n<thead><tr>",
                  kind == TableOf::texts ? " class=\"left\"" : "");
  for (const std::string& head : heads) html += fmt::format("<th scope=\"col\">{}</th>", escaped(head));
  html += "</tr></thead>\n<tbody>\n";
  for (const HtmlRow& row : rows) {
    html += row.stands_out ? "<tr class=\"baseline\">" : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string swatch =
          i == 0 && row.swatch
              ? fmt::format("<span class=\"swatch\" style=\"background:var({})\"></span>", css_variable(*row.swatch))
              : "";
      html += fmt::format("<td>{}{}</td>", swatch, escaped(row.cells[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

namespace {

// For the script: every figure that it can draw anew.
std::string embedded_data(const std::vector<PageSection>& sections) {
  std::string figures;
  for (const PageSection& section : sections)
    for (const PageBlock& block : section.blocks)
      if (block.figure && block.figure->draw.data)
        figures +=
            fmt::format("{}{{\"name\":{},\"title\":{},\"caption\":{},\"data\":{}}}", figures.empty() ? "" : ",\n",
                        json_text(anchor_of(section, *block.figure)), json_text(block.figure->title),
                        json_text(block.figure->caption), block.figure->draw.data());
  return fmt::format("<script type=\"application/json\" id=\"eureka-data\">{{\"figures\":[{}]}}</script>\n", figures);
}

}  // namespace

std::string page_html(const std::vector<PageSection>& sections, const PageBundle& bundle) {
  const bool is_live = !bundle.script.empty();
  const std::string title =
      sections.size() == 1 ? sections[0].title : fmt::format("{} and {} more", sections[0].title, sections.size() - 1);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:{}\">\n<title>{} · Eureka</title>\n"
      "<style>\n{}{}{}</style></head>\n<body>\n<main>\n<h1>{}</h1>\n",
      is_live ? fmt::format("; script-src '{}'", bundle.hash) : "", escaped(title), figure::css_colors(),
      page_style::files()[0].text, bundle.style, escaped(title));
  html += paragraph(fmt::format("A report of eureka {}. Every figure has its data beside it; nothing here needs a "
                                "network, and no figure needs a script.",
                                EUREKA_VERSION),
                    "muted");
  html += contents(sections);
  for (const PageSection& section : sections) {
    html += fmt::format("<section>\n<h2 id=\"{}\">{}</h2>\n", escaped(section.name),
                        escaped(sections.size() == 1 ? "What it is" : section.title));
    for (const PageBlock& block : section.blocks)
      html += block.figure ? figure_html(section, *block.figure) : block.html;
    html += "</section>\n";
  }
  html += "</main>\n";
  if (is_live) html += embedded_data(sections) + fmt::format("<script>{}</script>\n", bundle.script);
  return html + "</body></html>\n";
}

}  // namespace eureka
