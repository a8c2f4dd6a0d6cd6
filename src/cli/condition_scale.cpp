// eureka condition scale: how the curvature of the query-key and value blocks grows with the scale of the data.
#include <cmath>

#include "cli/condition.h"
#include "theory/cases.h"

namespace eureka::cli {
namespace {

using theory::AttentionKind;
using theory::LayerBlocks;

struct ScaleArguments {
  theory::TeacherSize size{4, 6, 4, 3};
  std::string scales = "0.05,0.1,3,6", kinds;
  std::uint64_t seed = 1;
  int threads = 0;
  ConditionOutput output;
};

// Small data: which power of sigma each block starts with. The norm kinds divide the logits' scale out.
LayerBlocks small_scale_exponents(AttentionKind kind) {
  if (kind == AttentionKind::linear) return {6, 6};
  if (kind == AttentionKind::norm || kind == AttentionKind::norm_min) return {2, 2};
  return {6, 2};
}

struct Step {
  AttentionKind kind;
  double from, to;
};

int scale(const ScaleArguments& arguments) {
  const std::vector<double> scales = parse_numbers(arguments.scales, "--scales");
  if (scales.size() < 2)
    throw Error(ErrorKind::usage, "an exponent needs two scales", "--scales", "for example: 0.05,0.1");
  std::vector<AttentionKind> kinds = parse_kinds(arguments.kinds);
  if (kinds.empty()) kinds.assign(theory::kAttentionKinds.begin(), theory::kAttentionKinds.end());
  std::vector<Step> steps;
  for (const AttentionKind kind : kinds)
    for (std::size_t i = 0; i + 1 < scales.size(); ++i) steps.push_back({kind, scales[i], scales[i + 1]});
  const auto exponents = theory::for_cases(threads_or_all(arguments.threads), steps, [&](const Step& step) {
    return theory::scale_exponents(step.kind, arguments.size, step.from, step.to, arguments.seed);
  });
  ResultTable table({{"kind", "kind", "", Align::left},
                     {"from", "sigma from", "{:g}"},
                     {"to", "to", "{:g}"},
                     {"query_key_theory", "QK theory", "{:.0f}"},
                     {"query_key", "QK measured", "{:.3f}"},
                     {"query_key_ratio", "ratio", "{:.4f}"},
                     {"value_theory", "V theory", "{:.0f}"},
                     {"value", "V measured", "{:.3f}"},
                     {"value_ratio", "ratio", "{:.4f}"}});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LayerBlocks theory = small_scale_exponents(steps[i].kind), measured = exponents[i];
    table.add_row({std::string(theory::name_of(steps[i].kind)), steps[i].from, steps[i].to, theory.query_key,
                   measured.query_key, measured.query_key / theory.query_key, theory.value, measured.value,
                   measured.value / theory.value});
  }
  emit({"Exponents of the Gauss-Newton blocks of one attention layer in the data's scale sigma; theory is for sigma -> "
        "0",
        {table},
        "",
        "softmax parts the blocks (6 and 2) where linear attention does not (6 and 6); large sigma saturates it."},
       arguments.output);
  return kOk;
}

}  // namespace

void add_condition_scale(CLI::App& condition, Action& chosen) {
  CLI::App* verb = condition.add_subcommand("scale", "data-scale exponents of the query-key and value blocks");
  auto arguments = std::make_shared<ScaleArguments>();
  verb->add_option("--scales", arguments->scales, "an exponent between each two neighbours")->capture_default_str();
  verb->add_option("--kinds", arguments->kinds, "attention kinds: softmax,linear; all when left out");
  verb->add_option("--seed", arguments->seed, "of data and weights");
  add_size_options(*verb, arguments->size);
  add_threads_option(*verb, arguments->threads);
  add_output_options(*verb, arguments->output);
  verb->callback([=, &chosen] { chosen = [=] { return scale(*arguments); }; });
}

}  // namespace eureka::cli
