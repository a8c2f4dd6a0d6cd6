#include "nn/model.h"

#include "base/random.h"

namespace eureka {

at::Tensor random_mask(double drop_rate, at::IntArrayRef shape, const ForwardContext& context,
                       const std::string& stream, const at::TensorOptions& options) {
  at::Tensor mask = at::empty(shape, at::kFloat);
  RandomStream random(context.seed, stream, static_cast<std::uint64_t>(context.step));
  float* values = mask.data_ptr<float>();
  const auto kept = static_cast<float>(1 / (1 - drop_rate));
  for (std::int64_t i = 0; i < mask.numel(); ++i) values[i] = random.uniform_float() < drop_rate ? 0.0F : kept;
  return mask.to(options);
}

}  // namespace eureka
