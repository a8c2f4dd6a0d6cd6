// eureka report: runs, studies and conditioning as one HTML file; or one of its figures as a file of its own.
#include <fmt/format.h>

#include "base/output.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/figure_file.h"
#include "report/report_source.h"

namespace eureka::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> sources;
  std::string out;
  std::string figure;
};

struct NamedFigure {
  std::string name;
  const ReportFigure* figure;
};

// "survival"; where several things are shown, "cures/survival".
std::vector<NamedFigure> figures_of(const std::vector<PageSection>& sections) {
  std::vector<NamedFigure> figures;
  for (const PageSection& section : sections)
    for (const PageBlock& block : section.blocks)
      if (block.figure)
        figures.push_back(
            {sections.size() == 1 ? block.figure->name : fmt::format("{}/{}", section.name, block.figure->name),
             &*block.figure});
  return figures;
}

const ReportFigure& find_figure(const std::vector<NamedFigure>& figures, const std::string& name) {
  std::vector<std::string> names;
  for (const NamedFigure& one : figures) {
    if (one.name == name) return *one.figure;
    names.push_back(one.name);
  }
  throw Error(ErrorKind::usage, fmt::format("there is no figure '{}'", name), "--figure", did_you_mean(name, names));
}

int report(const ReportArguments& arguments) {
  const std::vector<PageSection> sections =
      read_sections({arguments.sources.begin(), arguments.sources.end()}, catalog());
  const std::vector<NamedFigure> figures = figures_of(sections);
  if (arguments.figure == "list") {
    for (const NamedFigure& one : figures) print("{:<28} {}\n", one.name, one.figure->title);
    return kOk;
  }
  const std::string out = !arguments.out.empty()     ? arguments.out
                          : arguments.figure.empty() ? "report.html"
                                                     : fs::path(arguments.figure).filename().string() + ".svg";
  if (arguments.figure.empty())
    atomic_write(out, page_html(sections));
  else
    write_figure(find_figure(figures, arguments.figure), out);
  print("{}\n", out);
  return kOk;
}

}  // namespace

void add_report(Command& program) {
  Command verb =
      program.add_command("report", "runs and studies as one HTML file, or one figure of them as SVG, PNG or PDF");
  auto arguments = std::make_shared<ReportArguments>();
  verb.option("sources", arguments->sources,
              "runs, studies, directories of them, directories of looks (eureka look --out), or what eureka condition "
              "--json printed")
      .required()
      .repeatable();
  verb.option("-o,--out", arguments->out, "the file to write; report.html when left out");
  verb.option("--figure", arguments->figure,
              "only this one, to a file that ends in .svg, .png or .pdf (.csv: its data); list: their names");
  verb.runs([=] { return report(*arguments); });
}

}  // namespace eureka::cli
