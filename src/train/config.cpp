#include "train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "train/intervention_checks.h"
#include "train/option_lists.h"

namespace eureka {
namespace {

using FlatEntries = std::vector<std::pair<std::string, OptionValue>>;

// Collects the current values of an options struct, in the order of declaration.
class CollectVisitor : public detail::OptionVisitor<CollectVisitor> {
 public:
  CollectVisitor(std::string section, FlatEntries& out) : section_(std::move(section)), out_(out) {}
  template <class T>
  void option(const std::string& name, const T& member, Range, const char*) {
    out_.emplace_back(section_ + "." + name, detail::to_value(member));
  }

 private:
  std::string section_;
  FlatEntries& out_;
};

template <class Options>
void collect(const char* section, Options options, FlatEntries& out) {
  CollectVisitor visitor(section, out);
  options.visit(visitor);
}

class Resolver {
 public:
  Resolver(const ConfigEntries& entries, const Catalog& catalog) : entries_(entries), catalog_(catalog) {}

  // The plug-in that `section`.`key` names, with its options.
  PluginChoice plugin(const std::string& section, const std::string& key, const std::string& default_name) {
    const std::string path = section + "." + key;
    std::string name = default_name;
    std::string where;
    if (const auto found = entries_.find(path); found != entries_.end()) {
      where = found->second.where;
      const OptionInfo info{path, OptionType::text, std::string(), {}, {}, fmt::format("the name of a {}", section)};
      name = std::get<std::string>(check_option(info, found->second.value, path, where));
    }
    if (name.empty())
      throw Error(ErrorKind::config, fmt::format("'{}' is missing", path), {},
                  fmt::format("name one of `eureka list {}`", section == "attention" ? section : section + "s"));
    known_.insert(path);
    const PluginInfo& info = catalog_.find(section, name, where);
    return {name, section_values(section, info.options)};
  }

  // Those that `path` names, each with the options of a section of its own.
  std::vector<PluginChoice> named_plugins(const std::string& path, const std::string& names, const std::string& kind,
                                          const std::string& section) {
    const auto found = entries_.find(path);
    const std::string where = found == entries_.end() ? "" : found->second.where;
    std::vector<PluginChoice> chosen;
    for (const std::string& name : split_names(names)) {
      if (std::any_of(chosen.begin(), chosen.end(), [&](const PluginChoice& one) { return one.name == name; }))
        throw Error(ErrorKind::config, fmt::format("'{}' names '{}' twice", path, name), where);
      const PluginInfo& info = catalog_.find(kind, name, where);
      chosen.push_back({name, section_values(section + "." + name, info.options)});
    }
    return chosen;
  }

  template <class Options>
  Options section(const std::string& name) {
    Options options;
    assign(options, section_values(name, describe<Options>()));
    return options;
  }

  void refuse_unknown_keys() const {
    for (const auto& [key, entry] : entries_) {
      if (known_.contains(key)) continue;
      const std::vector<std::string> candidates(known_.begin(), known_.end());
      const std::string nearest = nearest_name(key, candidates);
      const std::string section = key.substr(0, key.find('.'));
      throw Error(ErrorKind::config, fmt::format("unknown key '{}'", key), entry.where,
                  nearest.empty() ? fmt::format("eureka list options {} shows what there is", section)
                                  : fmt::format("did you mean '{}'?  (eureka list options {})", nearest, section));
    }
  }

 private:
  OptionValues section_values(const std::string& section, const OptionList& options) {
    OptionValues values = default_values(options);
    for (const OptionInfo& info : options) {
      const std::string path = section + "." + info.name;
      known_.insert(path);
      if (const auto found = entries_.find(path); found != entries_.end())
        values[info.name] = check_option(info, found->second.value, path, found->second.where);
    }
    return values;
  }

  const ConfigEntries& entries_;
  const Catalog& catalog_;
  std::set<std::string> known_;
};

}  // namespace

std::vector<ConfigSection> fixed_sections() {
  return {{"attention.scale", describe<ScaleOptions>()},
          {"train", describe<TrainOptions>()},
          {"diagnose", describe<DiagnoseOptions>()},
          {"intervene", describe<InterventionOptions>()},
          {"run", describe<RunOptions>()}};
}

ConfigEntries merge_entries(ConfigEntries base, const ConfigEntries& overrides) {
  for (const std::string key : {"task.name", "model.name", "attention.rule"}) {
    const auto chosen = overrides.find(key);
    const auto before = base.find(key);
    if (chosen == overrides.end() || (before != base.end() && before->second.value == chosen->second.value)) continue;
    const std::string section = key.substr(0, key.find('.') + 1);
    // The scale belongs to every rule.
    std::erase_if(base, [&](const auto& item) {
      return item.first.starts_with(section) && !item.first.starts_with("attention.scale.");
    });
  }
  for (const auto& [key, entry] : overrides) base[key] = entry;
  return base;
}

RunConfig resolve_config(const ConfigEntries& given, const Catalog& catalog) {
  const ConfigEntries entries = with_lists_as_text(given);
  Resolver resolver(entries, catalog);
  RunConfig config;
  config.catalog = &catalog;
  config.task = resolver.plugin("task", "name", "");
  config.model = resolver.plugin("model", "name", "transformer");
  config.attention = resolver.plugin("attention", "rule", "softmax");
  config.scale = resolver.section<ScaleOptions>("attention.scale");
  config.train = resolver.section<TrainOptions>("train");
  config.diagnose = resolver.section<DiagnoseOptions>("diagnose");
  config.diagnostics = resolver.named_plugins("diagnose.names", config.diagnose.names, "diagnostic", "diagnose");
  if (!config.diagnostics.empty() && config.diagnose.every % config.train.eval_every != 0) {
    const auto every = entries.find("diagnose.every");
    throw Error(ErrorKind::config,
                fmt::format("'diagnose.every' must be a multiple of train.eval_every = {}, not {}",
                            config.train.eval_every, config.diagnose.every),
                every == entries.end() ? "" : every->second.where,
                "what is seen is part of a validation's row; 0: of all");
  }
  config.intervene = resolver.section<InterventionOptions>("intervene");
  config.run = resolver.section<RunOptions>("run");
  resolver.refuse_unknown_keys();
  check_interventions(config, entries);
  return config;
}

FlatEntries flat_entries(const RunConfig& config) {
  FlatEntries flat;
  const auto plugin = [&](const std::string& section, const std::string& key, const PluginChoice& choice) {
    flat.emplace_back(section + "." + key, choice.name);
    for (const auto& [name, value] : choice.options) flat.emplace_back(section + "." + name, value);
  };
  plugin("task", "name", config.task);
  plugin("model", "name", config.model);
  plugin("attention", "rule", config.attention);
  collect("attention.scale", config.scale, flat);
  collect("train", config.train, flat);
  collect("diagnose", config.diagnose, flat);
  for (const PluginChoice& choice : config.diagnostics)
    for (const auto& [name, value] : choice.options)
      flat.emplace_back(fmt::format("diagnose.{}.{}", choice.name, name), value);
  collect("intervene", config.intervene, flat);
  collect("run", config.run, flat);
  return flat;
}

ConfigEntries to_entries(const RunConfig& config, const std::string& where) {
  ConfigEntries entries;
  for (auto& [key, value] : flat_entries(config)) entries[key] = {std::move(value), where};
  return entries;
}

std::string to_toml(const RunConfig& config) { return write_toml(flat_entries(config)); }

namespace {

HeadInterventions head_interventions(const InterventionOptions& intervene) {
  const auto chosen = [](const std::string& table, const auto& options) {
    return HeadChoice{parse_indices(options.layers, table + ".layers"), parse_indices(options.heads, table + ".heads")};
  };
  const auto kind_of = [](AttentionFix kind) {
    if (kind == AttentionFix::none) return FixedKind::none;
    return kind == AttentionFix::uniform ? FixedKind::uniform : FixedKind::wanted;
  };
  const AttentionFixing& attention = intervene.attention;
  const HeadScaling& scale = intervene.scale;
  return {.scale = {scale.multiple, chosen("intervene.scale", scale), {scale.from, scale.until}},
          .attention = {
              kind_of(attention.kind), chosen("intervene.attention", attention), {attention.from, attention.until}}};
}

}  // namespace

EngineConfig engine_config(const RunConfig& config, const TaskShape& shape) {
  return {.shape = shape,
          .model = config.model.name,
          .model_options = config.model.options,
          .rule = config.attention.name,
          .rule_options = config.attention.options,
          .scale = config.scale,
          .interventions = head_interventions(config.intervene),
          .optimizer = config.train.optimizer,
          .lr_multiplier = config.train.lr_multiplier,
          .label_smoothing = config.train.label_smoothing,
          .clip = config.train.clip,
          .total_steps = config.train.steps,
          .seed = static_cast<std::uint64_t>(config.run.seed),
          .threads = config.run.threads,
          .device = config.run.device,
          .precision = config.run.precision};
}

}  // namespace eureka
