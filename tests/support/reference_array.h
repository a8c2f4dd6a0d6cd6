// An array of tests/diagnostics/vectors.json: samples x heads x rows x columns, in float32.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/observation.h"
#include "io/json.h"

namespace eureka {

struct ReferenceArray {
  explicit ReferenceArray(const Json& json) {
    for (const Json& sample : json)
      for (const Json& head : sample)
        for (const Json& row : head)
          for (const Json& value : row) values.push_back(value.get<float>());
    sizes = {static_cast<std::int64_t>(json.size()), static_cast<std::int64_t>(json[0].size()),
             static_cast<std::int64_t>(json[0][0].size()), static_cast<std::int64_t>(json[0][0][0].size())};
  }

  TensorView view() const { return view(0, sizes[0]); }
  TensorView view(std::int64_t first, std::int64_t samples) const {
    const std::int64_t head = sizes[2] * sizes[3];
    return {values.data() + first * sizes[1] * head,
            {samples, sizes[1], sizes[2], sizes[3]},
            {sizes[1] * head, head, sizes[3]}};
  }

  std::vector<float> values;
  std::array<std::int64_t, 4> sizes;
};

}  // namespace eureka
