// What a report is of: each directory becomes a section, whatever it holds.
//
//   std::vector<PageSection> sections = read_sections({"runs/a", "studies/cures"}, catalog);
#pragma once

#include <vector>

#include "base/files.h"
#include "report/page.h"
#include "train/catalog.h"

namespace eureka {

// A directory that holds neither a run nor a study stands for those right below it. Several runs are shown side by side
// first. Sections have different names. Throws Error(input) for a place that holds nothing of ours.
std::vector<PageSection> read_sections(const std::vector<fs::path>& places, const Catalog& catalog);

}  // namespace eureka
