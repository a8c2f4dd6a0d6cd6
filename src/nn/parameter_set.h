// The parameters of one model as torch tensors that are views into one flat buffer, and their gradients into another:
// the optimizer is a few passes over two vectors, whatever the number of tensors.
//
//   ParameterSet parameters(specs, seed, at::kFloat, at::kCPU);
//   at::Tensor weight = parameters["head.weight"];          a leaf that requires grad
//   parameters.zero_gradients(); loss.backward(); parameters.gradients()
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/parameters.h"
#include "nn/torch.h"

namespace eureka {

class ParameterSet {
 public:
  ParameterSet(std::vector<ParameterSpec> specs, std::uint64_t seed, at::ScalarType dtype, at::Device device);

  const std::vector<ParameterSpec>& specs() const { return specs_; }
  const at::Tensor& operator[](const std::string& name) const;
  bool contains(const std::string& name) const { return index_.contains(name); }

  // In the order of specs().
  const std::vector<at::Tensor>& leaves() const { return leaves_; }

  const at::Tensor& values() const { return values_; }        // flat
  const at::Tensor& gradients() const { return gradients_; }  // flat
  void zero_gradients();

  // Part of a flat tensor of this layout that belongs to parameter `i`, in its shape.
  at::Tensor part(const at::Tensor& flat, std::size_t i) const;

 private:
  std::vector<ParameterSpec> specs_;
  std::vector<std::int64_t> offsets_;
  std::map<std::string, std::size_t> index_;
  std::vector<at::Tensor> leaves_;
  at::Tensor values_;
  at::Tensor gradients_;
};

}  // namespace eureka
