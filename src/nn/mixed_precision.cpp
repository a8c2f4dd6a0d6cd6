#include "nn/mixed_precision.h"

namespace eureka {
namespace {

#if EUREKA_TORCH_AT_LEAST(2, 4)
void set_autocast(at::DeviceType type, bool on) {
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, on);
}
#else
void set_autocast(at::DeviceType type, bool on) {
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  if (type == at::DeviceType::CUDA)
    at::autocast::set_enabled(on);
  else
    at::autocast::set_cpu_enabled(on);
}
#endif

}  // namespace

MixedPrecision::MixedPrecision(bool wanted, const at::Device& device) : wanted_(wanted), type_(device.type()) {
  if (wanted_) set_autocast(type_, true);
}

MixedPrecision::~MixedPrecision() {
  if (!wanted_) return;
  set_autocast(type_, false);
  // It holds casts of weights that the next update changes.
  at::autocast::clear_cache();
}

}  // namespace eureka
