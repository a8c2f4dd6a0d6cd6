#include "nn/declarations.h"

#include "engine/fused_models.h"
#include "io/json.h"
#include "io/option_json.h"
#include "kernels/fused_rules.h"
#include "nn/attention_rule.h"
#include "nn/model.h"

namespace eureka {

std::string torch_declarations() {
  Json list = Json::array();
  for (const PluginInfo& info : Registry<Model>::instance().infos())
    if (find_fused_model(info.name) == nullptr) list.push_back(to_json(info));
  for (const PluginInfo& info : Registry<AttentionRule>::instance().infos())
    if (find_fused_rule(info.name) == nullptr) list.push_back(to_json(info));
  return list.dump(1);
}

}  // namespace eureka
