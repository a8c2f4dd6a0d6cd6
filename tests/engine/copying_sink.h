// A sink that copies all it is shown into plain tensors, each with a name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/observation.h"

namespace eureka {

class CopyingSink final : public ObservationSink {
 public:
  void see(const ObservationView& view) override {
    const std::string layer = " of layer " + std::to_string(view.layer);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const std::string name = enum_names(Point{})[i] + layer;
      copy(view.values[i], name);
      copy(view.gradients[i], "gradient by " + name);
      const Point point = static_cast<Point>(i);
      if (point == Point::weights && view.values[i].exists()) copy_mask(view, "mask" + layer);
    }
    if (!view.scale.empty()) tensors["scale" + layer].assign(view.scale.begin(), view.scale.end());
  }

  void see_parameter(const ParameterView& view) override {
    for (std::int64_t row = 0; row < view.rows; ++row) {
      append(view.values + row * view.stride, view.columns, view.spec->name);
      append(view.gradient + row * view.stride, view.columns, "gradient by " + view.spec->name);
    }
  }

  std::map<std::string, std::vector<float>> tensors;

 private:
  void append(const float* from, std::int64_t count, const std::string& name) {
    tensors[name].insert(tensors[name].end(), from, from + count);
  }

  void copy(const TensorView& from, const std::string& name) {
    if (!from.exists()) return;
    for (std::int64_t s = 0; s < from.sizes[0]; ++s)
      for (std::int64_t head = 0; head < from.sizes[1]; ++head)
        for (std::int64_t row = 0; row < from.sizes[2]; ++row) append(from.row(s, head, row), from.sizes[3], name);
  }

  void copy_mask(const ObservationView& view, const std::string& name) {
    const std::int64_t tokens = view.value(Point::weights).sizes[3];
    for (std::int64_t s = 0; s < view.samples; ++s)
      for (std::int64_t query = 0; query < tokens; ++query)
        for (std::int64_t key = 0; key < tokens; ++key)
          tensors[name].push_back(view.mask.sees(s, query, key) ? 1.0F : 0.0F);
  }
};

inline ObservationRequest everything() {
  return {.points = PointSet::all(), .gradients = true, .parameters = ParameterGradients::own_pass};
}

}  // namespace eureka
