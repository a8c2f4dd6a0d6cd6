#include "nn/declarations.h"

#include "io/option_json.h"
#include "nn/attention_rule.h"
#include "nn/model.h"

namespace eureka {

std::string torch_declarations() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PluginInfo& info : Registry<Model>::instance().infos()) list.push_back(to_json(info));
  for (const PluginInfo& info : Registry<AttentionRule>::instance().infos()) list.push_back(to_json(info));
  return list.dump(1);
}

}  // namespace eureka
