#include "nn/model.h"

#include "base/random.h"
#include "nn/device.h"

namespace eureka {

at::Tensor random_mask(double drop_rate, at::IntArrayRef shape, const ForwardContext& context,
                       const std::string& stream, const at::TensorOptions& options) {
  std::vector<float> mask(static_cast<std::size_t>(c10::multiply_integers(shape)));
  RandomStream random(context.seed, stream, static_cast<std::uint64_t>(context.step));
  if (context.first_sample > 0) random.skip(static_cast<std::uint64_t>(context.first_sample) * mask.size() / shape[0]);
  const auto kept = static_cast<float>(1 / (1 - drop_rate));
  for (float& value : mask) value = random.uniform_float() < drop_rate ? 0.0F : kept;
  return sent(at::from_blob(mask.data(), shape, at::kFloat).clone(), options);
}

}  // namespace eureka
