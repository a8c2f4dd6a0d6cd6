#include "lab/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/printable.h"
#include "base/suggest.h"
#include "lab/study_axes.h"

namespace eureka {
namespace {

struct StudyHead {
  std::string name;
  std::string question;
  std::string base;
  std::string baseline;
  std::int64_t budget = 0;
  double timeout = 300;
  AwaitedEvent event = AwaitedEvent::moment;
  double target = 0;
  double relative_target = kDefaultTargetFraction;
  std::string version;

  template <class V>
  void visit(V& v) {
    v("name", name, "of the study; that of its file when left out");
    v("question", question, "what the study is to answer, in one sentence");
    v("base", base, "preset or file of every trial");
    v("baseline", baseline, "the arm the others are compared with; the first when left out");
    v("budget", budget, Range{0, 1e9}, "steps of every trial; 0: those of the base");
    v("timeout", timeout, Range{0.1, 1e9}, "seconds without a step after which a trial counts as hung");
    v("event", event, "what the arms are compared by: the moment, or the first step at the target");
    v("target", target, Range{-1e9, 1e9}, "validation accuracy to reach; left out, it is relative to the baseline");
    v("relative_target", relative_target, Range{0.01, 1}, "share of the baseline's median final accuracy to reach");
    v("version", version, "of the eureka that wrote this file; of no effect");
  }
};

struct BranchHead {
  std::string from;
  std::int64_t at = 0;
  BranchOnly only = BranchOnly::stuck;

  template <class V>
  void visit(V& v) {
    v("from", from, "directory of the runs to continue; the study's own base when left out");
    v("at", at, Range{1, 1e9}, "the step to continue from");
    v("only", only, "runs stuck on the plateau at that step, or all that have had no moment by then");
  }
};

// The options of one section, checked; keys behind `section`.set and those in `elsewhere` are left to others.
template <class Options>
Options read_section(const ConfigEntries& entries, const std::string& section,
                     const std::vector<std::string>& elsewhere = {}) {
  const OptionList infos = describe<Options>();
  std::vector<std::string> known = elsewhere;
  OptionValues values;
  for (const OptionInfo& info : infos) known.push_back(info.name);
  for (const auto& [path, entry] : entries) {
    if (!path.starts_with(section + ".") || path.starts_with(section + ".set.") ||
        path.starts_with(section + ".slurm."))
      continue;
    const std::string name = path.substr(section.size() + 1);
    if (const OptionInfo* info = find_option(infos, name))
      values[name] = check_option(*info, entry.value, path, entry.where);
    else if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorKind::config, fmt::format("unknown key '{}'", path), entry.where, did_you_mean(name, known));
  }
  Options options;
  assign(options, values);
  return options;
}

std::string where_of(const ConfigEntries& entries, const std::string& key, const std::string& otherwise) {
  const auto found = entries.find(key);
  return found == entries.end() ? otherwise : found->second.where;
}

// Entries whose key begins with `prefix`, under the rest of it.
ConfigEntries entries_behind(const ConfigEntries& entries, const std::string& prefix) {
  ConfigEntries behind;
  for (const auto& [key, entry] : entries)
    if (key.starts_with(prefix)) behind[key.substr(prefix.size())] = entry;
  return behind;
}

std::int64_t seed_value(const ConfigEntry& entry) {
  const OptionInfo info{"study.seeds", OptionType::integer, std::int64_t{0}, at_least(0), {}, "seeds of the trials"};
  return std::get<std::int64_t>(check_option(info, entry.value, "study.seeds", entry.where));
}

std::vector<std::int64_t> read_seeds(const ConfigDocument& document, const std::string& file_name) {
  std::vector<std::int64_t> seeds;
  std::string where = file_name;
  if (const auto list = document.lists.find("study.seeds"); list != document.lists.end()) {
    for (const ConfigEntry& entry : list->second) seeds.push_back(seed_value(entry));
    if (!list->second.empty()) where = list->second.front().where;
  } else if (const auto count = document.entries.find("study.seeds"); count != document.entries.end()) {
    where = count->second.where;
    const std::int64_t last = seed_value(count->second);
    if (last > kMostSeeds)
      throw Error(ErrorKind::config,
                  fmt::format("'study.seeds' is {}, but a study has at most {} seeds", last, kMostSeeds), where,
                  "to begin elsewhere than at 1, write a list: seeds = [100001, 100002]");
    for (std::int64_t seed = 1; seed <= last; ++seed) seeds.push_back(seed);
  } else if (document.entries.contains("branch.from")) {
    return {};
  }
  if (seeds.empty() || std::set(seeds.begin(), seeds.end()).size() != seeds.size())
    throw Error(ErrorKind::config, "'study.seeds' must be a number of seeds, or a list of different ones", where,
                "for example seeds = 10, or seeds = [1, 2, 5]");
  return seeds;
}

struct ArmHead {
  std::string name;
  template <class V>
  void visit(V& v) {
    v("name", name, "of the arm, and of its directory");
  }
};

// Inside a study's directory, or beside others: a way out of it, or over a file of the study's own, is none.
bool can_name_directory(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;
  constexpr std::array<std::string_view, 8> kTaken = {"study.toml",   "study.json",  "arms.csv", "trials.csv",
                                                      "events.jsonl", "report.html", "slurm",    "parents"};
  return !name.empty() && name.size() <= kMostBytes && name[0] != '.' && is_printable(name) &&
         name.find_first_of("/\\") == std::string::npos &&
         std::find(kTaken.begin(), kTaken.end(), name) == kTaken.end();
}

StudyArm read_arm(const ConfigEntries& entries, const std::string& file_name) {
  ConfigEntries prefixed;
  for (const auto& [key, entry] : entries) prefixed["arm." + key] = entry;
  StudyArm arm{read_section<ArmHead>(prefixed, "arm").name, entries_behind(entries, "set.")};
  if (!entries.contains("name"))
    throw Error(ErrorKind::config, "an [[arm]] has no name",
                entries.empty() ? file_name : entries.begin()->second.where, "for example name = \"softmax\"");
  if (!can_name_directory(arm.name) || arm.name.find_first_of(" ,\"") != std::string::npos)
    throw Error(
        ErrorKind::config, fmt::format("'{}' cannot name an arm", arm.name), entries.at("name").where,
        "it becomes a directory: no slashes, spaces, commas or quotes, no leading dot, no name of a file in it");
  return arm;
}

std::vector<StudyArm> read_arms(const ConfigDocument& document, const std::string& file_name) {
  const auto tables = document.tables.find("arm");
  if (tables == document.tables.end()) throw Error(ErrorKind::config, "the study has no [[arm]]", file_name);
  if (tables->second.size() > kMostArms)
    throw Error(ErrorKind::config,
                fmt::format("the study has {} arms, but at most {} can be compared", tables->second.size(), kMostArms),
                file_name, "make what varies a list in [axes], or divide it into several studies");
  std::vector<StudyArm> arms;
  for (const ConfigEntries& entries : tables->second) {
    StudyArm arm = read_arm(entries, file_name);
    if (std::any_of(arms.begin(), arms.end(), [&](const StudyArm& other) { return other.name == arm.name; }))
      throw Error(ErrorKind::config, fmt::format("two arms are named '{}'", arm.name), entries.at("name").where);
    arms.push_back(std::move(arm));
  }
  return arms;
}

std::size_t find_arm(const std::vector<StudyArm>& arms, const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const StudyArm& arm : arms) names.push_back(arm.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ErrorKind::config, fmt::format("the baseline '{}' is no arm of this study", name), where,
                did_you_mean(name, names));
  return static_cast<std::size_t>(found - names.begin());
}

void refuse_foreign_keys(const ConfigDocument& document, const std::string& file_name) {
  const auto is_ours = [](const std::string& key) {
    return key.starts_with("study.") || key.starts_with("axes.") || key.starts_with("branch.");
  };
  const auto refuse = [](const std::string& key, const std::string& where) {
    throw Error(ErrorKind::config, fmt::format("unknown key '{}'", key), where,
                "a study has [study], [[arm]], [axes] and [branch]; options for every trial go behind study.set");
  };
  for (const auto& [key, entry] : document.entries)
    if (!is_ours(key)) refuse(key, entry.where);
  for (const auto& [key, list] : document.lists)
    if (key != "study.seeds" && !key.starts_with("axes.")) refuse(key, list.empty() ? file_name : list.front().where);
  for (const auto& [key, tables] : document.tables)
    if (key != "arm" && key != "axes.list")
      refuse(key, tables.front().empty() ? file_name : tables.front().begin()->second.where);
}

std::optional<BranchPlan> read_branch(const ConfigEntries& entries, const std::string& file_name) {
  if (std::none_of(entries.begin(), entries.end(), [](const auto& item) { return item.first.starts_with("branch."); }))
    return std::nullopt;
  const BranchHead head = read_section<BranchHead>(entries, "branch");
  if (head.at == 0)
    throw Error(ErrorKind::config, "'branch.at' is missing", file_name,
                "the step to continue from, for example at = 1000");
  return BranchPlan{head.from, where_of(entries, "branch.from", file_name), head.at,
                    where_of(entries, "branch.at", file_name), head.only};
}

void append_entries(std::string& text, const std::string& prefix, const ConfigEntries& entries) {
  for (const auto& [key, entry] : entries) text += fmt::format("{}{} = {}\n", prefix, key, to_toml(entry.value));
}

// Those that are not as they would be anyway.
void append_changed(std::string& text, const std::string& prefix, SlurmOptions options) {
  detail::DescribeVisitor now;
  options.visit(now);
  const OptionList before = describe<SlurmOptions>();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (const OptionValue& value = now.list[i].default_value; value != before[i].default_value)
      text += fmt::format("{}{} = {}\n", prefix, before[i].name, to_toml(value));
}

Study read_document(const ConfigDocument& document, const ConfigSource& source) {
  refuse_foreign_keys(document, source.file_name);
  const auto head = read_section<StudyHead>(document.entries, "study", {"seeds"});
  Study study;
  study.name = head.name.empty() ? source.name : head.name;
  if (!can_name_directory(study.name))
    throw Error(ErrorKind::config, fmt::format("'{}' cannot name a study", study.name),
                where_of(document.entries, "study.name", source.file_name),
                "it becomes a directory: no slashes, no leading dot, no name of a file in it");
  study.question = head.question;
  study.branch = read_branch(document.entries, source.file_name);
  study.base = head.base;
  study.base_where = where_of(document.entries, "study.base", source.file_name);
  const bool has_runs = study.branch && !study.branch->from.empty();
  if (study.base.empty() != has_runs)
    throw Error(ErrorKind::config,
                has_runs ? "'study.base' and 'branch.from' exclude each other" : "not a study: 'study.base' is missing",
                study.base_where,
                has_runs ? "runs that are continued have their own config" : "a run is started by eureka train");
  study.seeds = read_seeds(document, source.file_name);
  study.arms = read_arms(document, source.file_name);
  if (!head.baseline.empty())
    study.baseline =
        find_arm(study.arms, head.baseline, where_of(document.entries, "study.baseline", source.file_name));
  study.overrides = entries_behind(document.entries, "study.set.");
  if (head.budget > 0) study.budget = head.budget;
  study.timeout_seconds = head.timeout;
  study.slurm = read_section<SlurmOptions>(document.entries, "study.slurm");
  study.event = head.event;
  if (document.entries.contains("study.target")) study.target = head.target;
  study.relative_target = head.relative_target;
  if (study.target && document.entries.contains("study.relative_target"))
    throw Error(ErrorKind::config, "'study.target' and 'study.relative_target' exclude each other",
                where_of(document.entries, "study.relative_target", source.file_name));
  study.points = read_points(document, source.file_name);
  if (study.branch && !study.points.front().name.empty())
    throw Error(ErrorKind::config, "a study that branches takes no axes", source.file_name,
                "make each value an [[arm]], or write one study for each point");
  return study;
}

// Who wrote a study.toml; nothing for a file written by hand.
std::string writer_of(const ConfigDocument& document) {
  const auto version = document.entries.find("study.version");
  const auto* text = version == document.entries.end() ? nullptr : std::get_if<std::string>(&version->second.value);
  return text == nullptr ? "" : fmt::format(" (written by eureka {}; this is eureka {})", *text, EUREKA_VERSION);
}

}  // namespace

Study read_study(const ConfigSource& source) {
  const ConfigDocument document = read_toml_document(source.text, source.file_name);
  try {
    return read_document(document, source);
  } catch (const Error& error) {
    throw Error(error.kind(), error.what() + writer_of(document), error.where(), error.hint());
  }
}

void refuse_too_many_trials(const Study& study) {
  const std::size_t trials = study.seeds.size() * study.points.size() * study.arms.size();
  if (trials > kMostTrials)
    throw Error(ErrorKind::config,
                fmt::format("{} arms, {} seeds and {} points of axes make {} trials, but a study has at most {}",
                            study.arms.size(), study.seeds.size(), study.points.size(), trials, kMostTrials),
                study.base_where, "divide it into several studies");
}

std::string to_toml(const Study& study) {
  const auto text_value = [](const std::string& text) { return to_toml(OptionValue(text)); };
  std::string text = "# written by eureka study: complete, with what the command line changed\n[study]\n";
  text += fmt::format("version = {}\nname = {}\n", text_value(EUREKA_VERSION), text_value(study.name));
  if (!study.question.empty()) text += fmt::format("question = {}\n", text_value(study.question));
  if (!study.base.empty()) text += fmt::format("base = {}\n", text_value(study.base));
  if (!study.seeds.empty()) text += fmt::format("seeds = [{}]\n", fmt::join(study.seeds, ", "));
  text += fmt::format("baseline = {}\n", text_value(study.arms[study.baseline].name));
  if (study.budget) text += fmt::format("budget = {}\n", *study.budget);
  text += fmt::format("timeout = {}\n", to_toml(OptionValue(study.timeout_seconds)));
  if (study.event != AwaitedEvent::moment) text += fmt::format("event = {}\n", to_toml(detail::to_value(study.event)));
  if (study.target) text += fmt::format("target = {}\n", to_toml(OptionValue(*study.target)));
  if (study.relative_target != kDefaultTargetFraction)
    text += fmt::format("relative_target = {}\n", to_toml(OptionValue(study.relative_target)));
  append_entries(text, "set.", study.overrides);
  append_changed(text, "slurm.", study.slurm);
  if (study.branch) {
    text += fmt::format("\n[branch]\nat = {}\nonly = {}\n", study.branch->at,
                        to_toml(detail::to_value(study.branch->only)));
    if (!study.branch->from.empty()) text += fmt::format("from = {}\n", text_value(study.branch->from));
  }
  for (const StudyArm& arm : study.arms) {
    text += fmt::format("\n[[arm]]\nname = {}\n", text_value(arm.name));
    append_entries(text, "set.", arm.overrides);
  }
  for (const StudyPoint& point : study.points) {
    if (point.name.empty()) continue;
    text += "\n[[axes.list]]\n";
    append_entries(text, "", point.overrides);
  }
  return text;
}

}  // namespace eureka
