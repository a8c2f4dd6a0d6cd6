// eureka report: runs and studies as one HTML file.
#include <fmt/format.h>

#include "base/output.h"
#include "cli/cli.h"
#include "report/report_source.h"

namespace eureka::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> sources;
  std::string out = "report.html";
};

int report(const ReportArguments& arguments) {
  const std::vector<PageSection> sections =
      read_sections({arguments.sources.begin(), arguments.sources.end()}, catalog());
  atomic_write(arguments.out, page_html(sections));
  print("{}\n", arguments.out);
  return kOk;
}

}  // namespace

void add_report(Command& program) {
  Command verb = program.add_command("report", "runs and studies as one HTML file, with every figure and its data");
  auto arguments = std::make_shared<ReportArguments>();
  verb.option("directories", arguments->sources, "runs, studies, or directories of them").required().repeatable();
  verb.option("-o,--out", arguments->out, "the file to write").shows_default();
  verb.runs([=] { return report(*arguments); });
}

}  // namespace eureka::cli
