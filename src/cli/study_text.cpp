#include "cli/study_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/output.h"
#include "base/terminal.h"
#include "report/study_table.h"

namespace eureka::cli {

void print_report(const StudyReport& report, const fs::path& out, const std::vector<std::string>& curves) {
  StudyTextOptions options;
  options.curves = curves;
  if (is_terminal(STDOUT_FILENO)) options.width = terminal_columns(STDOUT_FILENO);
  options.color = use_color(STDOUT_FILENO);
  print("{}\n{}\n", Layout{study_text(report, options)}, (out / "study.json").string());
}

}  // namespace eureka::cli
