// Plug-ins that register themselves: one file, one line.
//
//   const Registered<Task> kTwoStep{{"task", "two-step", "which of two targets ...", describe<Options>()},
//                                   [](const OptionValues& values) { return std::make_unique<TwoStep>(values); }};
//
//   Registry<Task>::instance().make("two-step", values)
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "base/suggest.h"

namespace eureka {

// What can be said of a plug-in without making one.
struct PluginInfo {
  std::string kind;  // task, model, attention
  std::string name;
  std::string description;
  OptionList options;
};

template <class Plugin>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Plugin>(const OptionValues&)>;

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(PluginInfo info, Factory factory) {
    const std::string name = info.name;
    const bool is_new = entries_.try_emplace(name, Entry{std::move(info), std::move(factory)}).second;
    EUREKA_CHECK(is_new, "two plug-ins are named " + name);
  }

  // Values must have passed check_option(); options that are missing take their defaults.
  std::unique_ptr<Plugin> make(const std::string& name, const OptionValues& values = {}) const {
    const auto found = entries_.find(name);
    if (found == entries_.end())
      throw Error(ErrorKind::config, fmt::format("unknown name '{}'", name), {}, did_you_mean(name, names()));
    return found->second.factory(values);
  }

  const PluginInfo& info(const std::string& name) const { return entries_.at(name).info; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  std::vector<PluginInfo> infos() const {
    std::vector<PluginInfo> infos;
    for (const auto& [name, entry] : entries_) infos.push_back(entry.info);
    return infos;
  }

 private:
  struct Entry {
    PluginInfo info;
    Factory factory;
  };
  std::map<std::string, Entry> entries_;  // sorted, so that lists do not depend on link order
};

template <class Plugin>
struct Registered {
  Registered(PluginInfo info, typename Registry<Plugin>::Factory factory) {
    Registry<Plugin>::instance().add(std::move(info), std::move(factory));
  }
};

}  // namespace eureka

// Registers `Class`, constructible from its `Options`, as `name`; used through EUREKA_TASK, EUREKA_MODEL, ...
#define EUREKA_REGISTER(Plugin, kind, name, Class, Options, description)                                          \
  static const ::eureka::Registered<Plugin> kRegistered##Class(                                                   \
      {kind, name, description, ::eureka::describe<Options>()}, [](const ::eureka::OptionValues& option_values) { \
        Options class_options;                                                                                    \
        ::eureka::assign(class_options, option_values);                                                           \
        return std::make_unique<Class>(class_options);                                                            \
      })
