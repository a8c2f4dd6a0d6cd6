// Attention rules of the fused engine: which exist, their options and parameters. The torch side (nn/attention) is the
// truth; a test compares the two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/parameters.h"
#include "kernels/attention_rows.h"
#include "kernels/head_norm.h"

namespace eureka {

struct FusedRule {
  RowRule row;
  std::optional<HeadNorm> head_norm;  // of queries and keys, before they meet
  bool has_gain = false;              // parameters: a gain for queries, a gain for keys
  bool has_factor = false;            // parameter: ln of a factor on the queries of each head
  bool has_strength = false;          // parameter: a factor on the scale of each head
  float strength = 1;                 // the same, where it is not learned
  std::vector<ParameterSpec> parameters;
};

bool has_fused_rule(const std::string& name);
std::vector<std::string> fused_rule_names();

// Requires: has_fused_rule(name), and options that have passed check_option().
FusedRule make_fused_rule(const std::string& name, const OptionValues& options, std::int64_t heads,
                          std::int64_t head_width);

}  // namespace eureka
