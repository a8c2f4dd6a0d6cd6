#include "engine/fused_rules.h"

#include <cmath>
#include <map>

#include "base/error.h"

namespace eureka {
namespace {

// Options by the names and defaults of the torch side.
class Reader {
 public:
  explicit Reader(const OptionValues& values) : values_(values) {}
  template <class T>
  T get(const char* name, T default_value) const {
    const auto found = values_.find(name);
    return found == values_.end() ? default_value : std::get<T>(found->second);
  }
  std::string text(const char* name, const char* default_value) const { return get<std::string>(name, default_value); }

 private:
  const OptionValues& values_;
};

struct Heads {
  std::int64_t count, width;
};

using Maker = void (*)(const Reader& options, Heads heads, FusedRule& rule);

void make_softmax(const Reader&, Heads, FusedRule& rule) { rule.row.kind = RowRuleKind::softmax; }

void make_norm_softmax(const Reader& options, Heads, FusedRule& rule) {
  rule.row.kind = RowRuleKind::norm_softmax;
  rule.row.by_variance = options.text("deviation", "std") == "variance";
  rule.row.epsilon = static_cast<float>(options.get("epsilon", 1e-6));
}

void make_sigmoid(const Reader& options, Heads, FusedRule& rule) {
  rule.row.kind = RowRuleKind::sigmoid;
  rule.row.log_keys_bias = options.text("bias", "log-keys") == "log-keys";
}

void make_linear(const Reader& options, Heads, FusedRule& rule) {
  rule.row.kind = RowRuleKind::linear;
  rule.row.mean = options.get("mean", true);
}

void make_softmax_one(const Reader&, Heads, FusedRule& rule) { rule.row.kind = RowRuleKind::softmax_one; }

void make_entmax15(const Reader&, Heads, FusedRule& rule) { rule.row.kind = RowRuleKind::entmax15; }

void make_scalable_softmax(const Reader& options, Heads heads, FusedRule& rule) {
  rule.row.kind = RowRuleKind::scalable_softmax;
  const double strength = options.get("strength", 0.43);
  rule.has_strength = options.get("learnable", true);
  if (rule.has_strength)
    rule.parameters = {{"strength", {heads.count}, ParameterGroup::rule, Initializer::constant(strength), false}};
  else
    rule.strength = static_cast<float>(strength);
}

void make_qk_norm(const Reader& options, Heads heads, FusedRule& rule) {
  rule.row.kind = RowRuleKind::softmax;
  const std::string norm = options.text("norm", "layer");
  rule.head_norm = HeadNorm{
      .centred = norm == "layer", .unit = norm == "l2", .epsilon = static_cast<float>(options.get("epsilon", 1e-6))};
  if (!options.get("learnable", true)) return;
  if (norm == "l2") {
    rule.has_factor = true;
    rule.parameters = {{"l2_log_scale", {heads.count}, ParameterGroup::rule, Initializer::zeros(), false}};
  } else {
    rule.has_gain = true;
    rule.parameters = {{"q_norm.weight", {heads.width}, ParameterGroup::rule, Initializer::ones(), false},
                       {"k_norm.weight", {heads.width}, ParameterGroup::rule, Initializer::ones(), false}};
  }
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all = {{"softmax", make_softmax},
                                                   {"norm_softmax", make_norm_softmax},
                                                   {"qk_norm", make_qk_norm},
                                                   {"sigmoid", make_sigmoid},
                                                   {"linear", make_linear},
                                                   {"softmax_one", make_softmax_one},
                                                   {"scalable_softmax", make_scalable_softmax},
                                                   {"entmax15", make_entmax15}};
  return all;
}

}  // namespace

bool has_fused_rule(const std::string& name) { return makers().contains(name); }

std::vector<std::string> fused_rule_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

FusedRule make_fused_rule(const std::string& name, const OptionValues& options, std::int64_t heads,
                          std::int64_t head_width) {
  EUREKA_CHECK(has_fused_rule(name), "no fused rule " + name);
  FusedRule rule;
  rule.row.inverse_root_width = static_cast<float>(1 / std::sqrt(static_cast<double>(head_width)));
  makers().at(name)(Reader(options), {heads, head_width}, rule);
  return rule;
}

}  // namespace eureka
