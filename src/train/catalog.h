// Everything that can be named in a config: tasks and diagnostics (registered in this program) and the models and
// attention rules of the torch library (declared at build time, so that nothing has to be loaded to know them).
#pragma once

#include <string>
#include <vector>

#include "base/registry.h"

namespace eureka {

class Catalog {
 public:
  // `torch_declarations`: JSON text written by the torch library at build time.
  explicit Catalog(std::string_view torch_declarations);

  // kind: task, model, attention or diagnostic. Throws Error(config) with "did you mean" for an unknown name.
  const PluginInfo& find(const std::string& kind, const std::string& name, const std::string& where = {}) const;
  std::vector<PluginInfo> of_kind(const std::string& kind) const;

 private:
  std::vector<PluginInfo> plugins_;
};

}  // namespace eureka
