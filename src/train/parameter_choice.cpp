#include "train/parameter_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "train/option_lists.h"

namespace eureka {
namespace {

std::string group_name(const ParameterSpec& spec) {
  return enum_names(spec.group)[static_cast<std::size_t>(spec.group)];
}

bool is_in_group(const ParameterSpec& spec, const std::string& group) {
  const bool of_attention = spec.group == ParameterGroup::query_key;
  if (group == "query") return of_attention && spec.name.find(".q.") != std::string::npos;
  if (group == "key") return of_attention && spec.name.find(".k.") != std::string::npos;
  return group == "all" || group == group_name(spec);
}

bool is_in_layers(const ParameterSpec& spec, const std::vector<int>& layers) {
  return layers.empty() || std::any_of(layers.begin(), layers.end(), [&](int layer) {
           return spec.name.starts_with(fmt::format("blocks.{}.", layer));
         });
}

}  // namespace

std::vector<std::string> choosable_groups() {
  const auto names = enum_names(ParameterGroup());
  std::vector<std::string> groups(names.begin(), names.end());
  for (const char* more : {"query", "key", "all"}) groups.emplace_back(more);
  return groups;
}

std::vector<std::size_t> chosen_parameters(const std::vector<ParameterSpec>& specs, const std::string& groups,
                                           const std::string& layers, const std::string& intervention) {
  const std::vector<int> blocks = parse_indices(layers, fmt::format("intervene.{}.layers", intervention));
  std::set<std::size_t> chosen;
  for (const std::string& group : split_names(groups)) {
    bool found = false;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!is_in_group(specs[i], group) || !is_in_layers(specs[i], blocks)) continue;
      chosen.insert(i);
      found = true;
    }
    if (found) continue;
    std::set<std::string> there;
    for (const ParameterSpec& spec : specs)
      if (is_in_layers(spec, blocks)) there.insert(group_name(spec));
    throw Error(ErrorKind::config,
                fmt::format("'intervene.{}.groups': this model has no parameters of group '{}'{}", intervention, group,
                            blocks.empty() ? "" : fmt::format(" in blocks {}", layers)),
                {}, there.empty() ? "it has no such blocks" : fmt::format("there are: {}", fmt::join(there, ", ")));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace eureka
