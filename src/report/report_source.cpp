#include "report/report_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "report/condition_section.h"
#include "report/look_section.h"
#include "report/sections.h"

namespace eureka {
namespace {

bool is_ours(const fs::path& place) {
  return is_study_directory(place) || is_run_directory(place) || is_look_directory(place) || is_condition_file(place);
}

std::vector<fs::path> ours_below(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.is_directory() && is_ours(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> expanded(const std::vector<fs::path>& places) {
  std::vector<fs::path> all;
  for (const fs::path& place : places) {
    if (!fs::exists(place)) throw Error(ErrorKind::input, "there is no such file or directory", place.string());
    if (is_ours(place)) {
      all.push_back(place);
      continue;
    }
    const std::vector<fs::path> below = fs::is_directory(place) ? ours_below(place) : std::vector<fs::path>();
    if (below.empty())
      throw Error(ErrorKind::input, "holds neither a run nor a study", place.string(),
                  "give a directory that eureka train, study or look wrote to, or a file of eureka condition --json");
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

void tell_apart(std::vector<PageSection>& sections) {
  std::set<std::string> taken;
  for (PageSection& section : sections) {
    const std::string name = section.name;
    for (int i = 2; !taken.insert(section.name).second; ++i) section.name = fmt::format("{}-{}", name, i);
  }
}

}  // namespace

std::vector<PageSection> read_sections(const std::vector<fs::path>& places, const Catalog& catalog) {
  std::vector<PageSection> sections;
  std::vector<RunData> runs;
  ArmTones tones;
  for (const fs::path& place : expanded(places)) {
    if (is_study_directory(place)) {
      sections.push_back(study_section(read_study_data(place, catalog), tones));
      continue;
    }
    if (!is_run_directory(place)) {
      sections.push_back(is_look_directory(place) ? look_section(place) : condition_section(place));
      continue;
    }
    runs.push_back(read_run(place, {}));
    sections.push_back(run_section(runs.back()));
  }
  if (runs.size() > 1) sections.insert(sections.begin(), comparison_section(runs, tones));
  tell_apart(sections);
  return sections;
}

}  // namespace eureka
