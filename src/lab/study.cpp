#include "lab/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "train/run_directory.h"

namespace eureka {
namespace {

constexpr std::string_view kSet = "set.";

// Keys behind `prefix`, without it; the other keys must be in `known`.
ConfigEntries take_overrides(const ConfigEntries& entries, const std::string& prefix,
                             const std::vector<std::string>& known) {
  ConfigEntries overrides;
  for (const auto& [key, entry] : entries) {
    if (key.starts_with(prefix))
      overrides[key.substr(prefix.size())] = entry;
    else if (std::find(known.begin(), known.end(), key) == known.end())
      throw Error(ErrorKind::config, fmt::format("unknown key '{}'", key), entry.where, did_you_mean(key, known));
  }
  return overrides;
}

std::int64_t seed_value(const OptionValue& value, const std::string& where) {
  const OptionInfo info{"study.seeds", OptionType::integer, std::int64_t{0}, at_least(0), {}, "seeds of the trials"};
  return std::get<std::int64_t>(check_option(info, value, "study.seeds", where));
}

std::vector<std::int64_t> read_seeds(const ConfigDocument& document, const std::string& file_name) {
  std::vector<std::int64_t> seeds;
  if (const auto list = document.lists.find("study.seeds"); list != document.lists.end()) {
    for (const OptionValue& value : list->second) seeds.push_back(seed_value(value, file_name));
  } else if (const auto count = document.entries.find("study.seeds"); count != document.entries.end()) {
    const std::int64_t last = seed_value(count->second.value, count->second.where);
    for (std::int64_t seed = 1; seed <= std::min<std::int64_t>(last, 100'000); ++seed) seeds.push_back(seed);
  }
  if (seeds.empty() || std::set(seeds.begin(), seeds.end()).size() != seeds.size())
    throw Error(ErrorKind::config, "'study.seeds' must be a number of seeds, or a list of different ones", file_name,
                "for example seeds = 10, or seeds = [1, 2, 5]");
  return seeds;
}

std::string text_of(const ConfigEntry& entry, const std::string& key) {
  const OptionInfo info{key, OptionType::text, std::string(), {}, {}, "a name"};
  return std::get<std::string>(check_option(info, entry.value, key, entry.where));
}

StudyArm read_arm(const ConfigEntries& entries, const std::string& file_name) {
  const auto name = entries.find("name");
  if (name == entries.end())
    throw Error(ErrorKind::config, "an [[arm]] has no name", file_name, "for example name = \"softmax\"");
  StudyArm arm{text_of(name->second, "arm.name"), take_overrides(entries, std::string(kSet), {"name"})};
  const bool fits = !arm.name.empty() && arm.name.find_first_of("/\\ \t\n") == std::string::npos && arm.name[0] != '.';
  if (!fits)
    throw Error(ErrorKind::config, fmt::format("'{}' cannot name an arm", arm.name), name->second.where,
                "it becomes a directory: no slashes, no spaces, no leading dot");
  return arm;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Study read_study(const ConfigSource& source) {
  const ConfigDocument document = read_toml_document(source.text, source.file_name);
  Study study;
  study.overrides = take_overrides(document.entries, "study.set.", {"study.base", "study.seeds", "study.baseline"});
  const auto base = document.entries.find("study.base");
  if (base == document.entries.end())
    throw Error(ErrorKind::config, "not a study: 'study.base' is missing", source.file_name,
                "a run is started by eureka train");
  study.base = text_of(base->second, "study.base");
  study.base_where = base->second.where;
  study.seeds = read_seeds(document, source.file_name);
  const auto arms = document.tables.find("arm");
  if (arms == document.tables.end()) throw Error(ErrorKind::config, "the study has no [[arm]]", source.file_name);
  for (const ConfigEntries& entries : arms->second) {
    StudyArm arm = read_arm(entries, source.file_name);
    const bool taken = std::any_of(study.arms.begin(), study.arms.end(),
                                   [&](const StudyArm& other) { return other.name == arm.name; });
    if (taken)
      throw Error(ErrorKind::config, fmt::format("two arms are named '{}'", arm.name), entries.at("name").where);
    study.arms.push_back(std::move(arm));
  }
  return study;
}

std::vector<Trial> plan_trials(const Study& study, const Catalog& catalog, const fs::path& out) {
  const ConfigSource base = find_config(study.base);
  const ConfigEntries base_entries = read_toml(base.text, base.file_name);
  std::vector<Trial> trials;
  for (const std::int64_t seed : study.seeds) {
    for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
      ConfigEntries entries = merge_entries(merge_entries(base_entries, study.overrides), study.arms[arm].overrides);
      entries["run.seed"] = {seed, "study.seeds"};
      trials.push_back(
          {arm, seed, out / study.arms[arm].name / fmt::format("seed-{}", seed), resolve_config(entries, catalog)});
    }
  }
  return trials;
}

std::vector<ArmResult> collect_results(const Study& study, const std::vector<Trial>& trials) {
  std::vector<ArmResult> results;
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
    ArmResult result;
    result.name = study.arms[arm].name;
    std::vector<double> steps, widths, accuracies;
    double sum_of_moments = 0;
    for (const Trial& trial : trials) {
      if (trial.arm != arm) continue;
      const auto summary = read_summary(trial.directory);
      if (!summary) continue;
      ++result.trials;
      const auto& moment = summary->at("moment");
      if (moment.at("found").get<bool>()) {
        ++result.moments;
        steps.push_back(moment.at("step"));
        widths.push_back(moment.at("rise_end").get<double>() - moment.at("rise_start").get<double>());
        sum_of_moments += steps.back();
      } else {
        steps.push_back(std::numeric_limits<double>::infinity());
      }
      if (summary->at("final_validation_accuracy").is_number())
        accuracies.push_back(summary->at("final_validation_accuracy"));
    }
    if (const auto middle = median(steps); middle && std::isfinite(*middle)) result.median_step = middle;
    if (result.moments > 0) result.mean_step_of_moments = sum_of_moments / static_cast<double>(result.moments);
    result.median_width = median(widths);
    result.median_final_accuracy = median(accuracies);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace eureka
