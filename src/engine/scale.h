// The scale that multiplies attention logits, as a multiple of 1/sqrt(head width): fixed, learned per head, or
// following a schedule over training. Heat Treatment is a half-cosine from a sharp scale down to 1/sqrt(d).
#pragma once

#include <array>
#include <cstdint>

#include "base/options.h"

namespace eureka {

enum class ScaleKind { fixed, learned, linear, cosine, half_cosine };
constexpr auto enum_names(ScaleKind) { return std::array{"fixed", "learned", "linear", "cosine", "half-cosine"}; }

struct ScaleOptions {
  ScaleKind kind = ScaleKind::fixed;
  double multiple = 1;
  double from = 24;
  double to = 1;

  template <class V>
  void visit(V& v) {
    v("kind", kind, "fixed, learned per head, or a schedule over training");
    v("multiple", multiple, Range{1e-6, 1e6},
      "fixed scale, or where a learned one starts, in units of 1/sqrt(head width)");
    v("from", from, Range{1e-6, 1e6}, "where a schedule starts, in units of 1/sqrt(head width)");
    v("to", to, Range{1e-6, 1e6}, "where a schedule ends, in units of 1/sqrt(head width)");
  }
};

// The multiple in force at `step` of `total_steps`; for `learned` where it starts.
double scale_multiple(const ScaleOptions& options, std::int64_t step, std::int64_t total_steps);

}  // namespace eureka
