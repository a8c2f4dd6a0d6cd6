#include "serve/ways_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/presets.h"
#include "lab/study.h"
#include "serve/answer.h"
#include "serve/confine.h"

namespace eureka::serve {
namespace {

const std::vector<const char*> kRecords = {"config.toml",   "meta.json",  "summary.json", "events.jsonl",
                                           "metrics.jsonl", "study.toml", "study.json",   "origin.json"};
constexpr int kTrialsDepth = 4;
constexpr std::size_t kMostChildren = 100'000;

void refuse_links(const OpenDirectory& directory, int depth) {
  if (const auto link = directory.link_among(kRecords))
    throw Refusal(404, fmt::format("{} is a link, and no link is followed", *link), "put the file itself there");
  if (depth == 0) return;
  const OpenDirectory::Children children = directory.children(kMostChildren);
  if (children.links > 0)
    throw Refusal(404, "there is a link among the directories of the study, and no link is followed",
                  "put the directory itself there, or serve what it leads to");
  for (const std::string& name : children.names)
    if (const auto child = directory.below(name)) refuse_links(*child, depth - 1);
}

// What is worked out anew reads the base of the study, and the runs it branches from.
void refuse_foreign_sources(const OpenDirectory& directory) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  const auto text = directory.read("study.toml", kMostBytes);
  if (!text) return;
  Study study;
  try {
    study = read_study({*text, "study.toml", "study"});
  } catch (const Error&) {
    return;  // then the reader of the layers below stops there too
  }
  const std::vector<PresetInfo> presets = list_presets();
  const bool is_preset =
      std::any_of(presets.begin(), presets.end(), [&](const PresetInfo& preset) { return preset.name == study.base; });
  const bool branches = study.branch && !study.branch->from.empty();
  if ((!study.base.empty() && !is_preset) || branches)
    throw Refusal(404, "its statistics are not there yet, and to work them out takes files that are not served",
                  "they are shown when the study has ended; its runs can be seen now");
}

}  // namespace

void refuse_ways_out(const ServedTree& tree, const IndexEntry& entry) {
  const auto directory = tree.open(entry.id);
  if (!directory) throw Refusal(404, "it is gone");
  refuse_links(*directory, entry.run ? 0 : kTrialsDepth);
  if (entry.of_study && !entry.of_study->is_told_in_full && !is_confined()) refuse_foreign_sources(*directory);
}

}  // namespace eureka::serve
