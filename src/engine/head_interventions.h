// What is done to single attention heads between two steps, as data that both engines read: a factor on the scale of
// their logits, or weights that are fixed instead of computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace eureka {

struct StepInterval {
  std::int64_t from = 0;
  std::int64_t until = 0;  // the first step that is no longer part of it; 0: there is none

  bool has(std::int64_t step) const { return step >= from && (until == 0 || step < until); }
};

struct HeadChoice {
  std::vector<int> layers, heads;  // empty: all

  bool has_layer(int layer) const { return layers.empty() || is_in(layers, layer); }
  bool has(int layer, int head) const { return has_layer(layer) && (heads.empty() || is_in(heads, head)); }

 private:
  static bool is_in(const std::vector<int>& list, int index) {
    return std::find(list.begin(), list.end(), index) != list.end();
  }
};

struct ScaleChange {
  double factor = 1;
  HeadChoice of;
  StepInterval during;

  bool holds(std::int64_t step) const { return factor != 1 && during.has(step); }
  double at(std::int64_t step, int layer, int head) const { return holds(step) && of.has(layer, head) ? factor : 1.0; }
};

// uniform: over all keys a query sees. wanted: over those of them that Batch::wanted names; over all when it names
// none.
enum class FixedKind : std::uint8_t { none, uniform, wanted };

struct FixedAttention {
  FixedKind kind = FixedKind::none;
  HeadChoice of;
  StepInterval during;

  bool holds(std::int64_t step) const { return kind != FixedKind::none && during.has(step); }
};

struct HeadInterventions {
  ScaleChange scale;
  FixedAttention attention;
};

}  // namespace eureka
