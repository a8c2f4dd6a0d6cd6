// While it lives, products on the device are computed in bfloat16, if wanted.
//
//   const MixedPrecision mixed(config.precision == Precision::bfloat16, device);
#pragma once

#include "nn/torch.h"

namespace eureka {

class MixedPrecision {
 public:
  MixedPrecision(bool wanted, const at::Device& device);
  ~MixedPrecision();
  MixedPrecision(const MixedPrecision&) = delete;
  MixedPrecision& operator=(const MixedPrecision&) = delete;

 private:
  bool wanted_;
  at::DeviceType type_;
};

}  // namespace eureka
