// How the curvature of the query-key and value blocks grows with the scale of the data.
#include "report/condition_report.h"
#include "theory/cases.h"

namespace eureka {
namespace {

using theory::AttentionKind;
using theory::LayerBlocks;

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

}  // namespace

ConditionReport scale_report(const theory::TeacherSize& size, const std::vector<double>& scales,
                             const std::vector<AttentionKind>& kinds, std::uint64_t seed, std::size_t threads) {
  std::vector<Step> steps;
  for (const AttentionKind kind : kinds)
    for (std::size_t i = 0; i + 1 < scales.size(); ++i) steps.push_back({kind, scales[i], scales[i + 1]});
  const auto exponents = theory::for_cases(threads, steps, [&](const Step& step) {
    return theory::scale_exponents(step.kind, size, step.from, step.to, seed);
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
  return {
      "Exponents of the Gauss-Newton blocks of one attention layer in the data's scale sigma; theory is for sigma -> "
      "0",
      {table},
      {},
      "softmax parts the blocks (6 and 2) where linear attention does not (6 and 6); large sigma saturates it."};
}

}  // namespace eureka
