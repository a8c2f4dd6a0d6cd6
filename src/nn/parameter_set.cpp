#include "nn/parameter_set.h"

#include "base/error.h"

namespace eureka {

ParameterSet::ParameterSet(std::vector<ParameterSpec> specs, std::uint64_t seed, at::ScalarType dtype,
                           at::Device device)
    : specs_(std::move(specs)) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  values_ = at::empty({total_size(specs_)}, options);
  gradients_ = at::zeros_like(values_);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    offsets_.push_back(offset);
    offset += specs_[i].size();
    const bool is_new = index_.emplace(specs_[i].name, i).second;
    EUREKA_CHECK(is_new, "two parameters are named " + specs_[i].name);
    std::vector<float> initial = initial_values(specs_[i], seed);
    part(values_, i).copy_(at::from_blob(initial.data(), specs_[i].shape, at::kFloat));
    leaves_.push_back(part(values_, i).detach().requires_grad_(true));
    leaves_[i].mutable_grad() = part(gradients_, i);
  }
}

const at::Tensor& ParameterSet::operator[](const std::string& name) const {
  const auto found = index_.find(name);
  EUREKA_CHECK(found != index_.end(), "no parameter is named " + name);
  return leaves_[found->second];
}

void ParameterSet::zero_gradients() {
  gradients_.zero_();
  // Autograd may have replaced a gradient instead of adding to it.
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    if (!leaves_[i].grad().defined() || leaves_[i].grad().data_ptr() != part(gradients_, i).data_ptr())
      leaves_[i].mutable_grad() = part(gradients_, i);
}

at::Tensor ParameterSet::part(const at::Tensor& flat, std::size_t i) const {
  return flat.narrow(0, offsets_[i], specs_[i].size()).view(specs_[i].shape);
}

}  // namespace eureka
