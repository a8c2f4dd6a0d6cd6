// Failures of the device (no memory left, device lost) as errors that a person can act on, instead of torch's own with
// a stack of addresses, which would pass for a bug.
//
//   at::Tensor large = clearly("cuda", [&] { return at::zeros(shape, options); });
//   std::unique_ptr<Engine> engine = make_guarded_engine(config);
#pragma once

#include <memory>

#include "engine/engine.h"
#include "nn/torch.h"

namespace eureka {

// Throws Error(failed), or `failure` again if it is our own fault.
[[noreturn]] void explain(const c10::Error& failure, const std::string& device);

template <class Work>
auto clearly(const std::string& device, const Work& work) {
  try {
    return work();
  } catch (const c10::Error& failure) {
    explain(failure, device);
  }
}

// The reference engine, with every call made clearly.
std::unique_ptr<Engine> make_guarded_engine(const EngineConfig& config);

}  // namespace eureka
