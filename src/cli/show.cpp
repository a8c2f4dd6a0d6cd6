// eureka show: what a run or a study said at its end, again from its directory.
#include <fmt/format.h>

#include "base/output.h"
#include "cli/run_and_show.h"
#include "cli/study_text.h"
#include "lab/study_record.h"
#include "report/study_data.h"

namespace eureka::cli {
namespace {

struct ShowArguments {
  std::vector<std::string> places;
  ShowOptions show;
};

int show_study(const fs::path& directory, bool json) {
  const StudyReport report = read_study_report(directory, catalog());
  if (json) {
    print("{}", Lines{study_json(report)});
    return kOk;
  }
  if (report.trials.empty())
    throw Error(ErrorKind::input, fmt::format("none of its {} trials has ended yet", report.planned),
                directory.string(), fmt::format("eureka study --out {} --resume continues it", directory.string()));
  print_report(report, directory);
  if (const std::size_t ended = report.trials.size() + report.damaged.size(); ended < report.planned)
    tell("{} of {} trials have ended; eureka study --out {} --resume runs the others\n", ended, report.planned,
         directory.string());
  return kOk;
}

int show(const ShowArguments& arguments) {
  for (const fs::path place : arguments.places) {
    if (is_study_directory(place))
      show_study(place, arguments.show.json);
    else if (is_run_directory(place))
      show_run(place, arguments.show);
    else
      throw Error(ErrorKind::input, "holds neither a run nor a study", place.string(),
                  "give a directory that eureka train or eureka study wrote to");
  }
  return kOk;
}

}  // namespace

void add_show(Command& program) {
  Command verb = program.add_command("show", "what a run or a study said at its end, again from its directory");
  auto arguments = std::make_shared<ShowArguments>();
  verb.option("place", arguments->places, "directories of runs or studies").required();
  add_shown_number(verb, arguments->show);
  verb.flag("--json", arguments->show.json, "print summary.json, of a study study.json");
  verb.runs([=] { return show(*arguments); });
}

}  // namespace eureka::cli
