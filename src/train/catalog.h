// Everything that can be named in a config: tasks and diagnostics (registered in this program), models and attention
// rules with a fused form, and those that only the torch library has (declared at build time, so that nothing has to be
// loaded to know them).
#pragma once

#include <string>
#include <vector>

#include "base/registry.h"

namespace eureka {

class Catalog {
 public:
  // `torch_declarations`: JSON text written by the torch library at build time; in a build without it, of the names
  // alone.
  explicit Catalog(std::string_view torch_declarations);

  // kind: task, model, attention or diagnostic. Throws Error(config) with "did you mean" for an unknown name,
  // and for one that needs a torch library in a build without it.
  const PluginInfo& find(const std::string& kind, const std::string& name, const std::string& where = {}) const;
  std::vector<PluginInfo> of_kind(const std::string& kind) const;

 private:
  struct Name {
    std::string kind, name;
  };

  std::vector<PluginInfo> plugins_;
  std::vector<Name> not_built_;  // what a torch library would have beside them
};

}  // namespace eureka
