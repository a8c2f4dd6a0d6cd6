// The device that tensors live on: found by name, asked to repeat itself, fed and read without needless waiting.
//
// A CUDA device works behind our back. Whoever reads a number from it waits until it has caught up, and so does a copy
// to it from ordinary memory; a step should wait once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/torch.h"

namespace eureka {

// Throws Error(config) when the name means nothing, or this libtorch sees no such device here.
at::Device device_named(const std::string& name);

// Which piece of hardware it is, by whatever number this process knows it; empty where nobody says.
std::string device_identity(const at::Device& device);

// `asked`, and where that leaves open which one, that of the local rank among several processes. Those that a process
// sees are counted round: a launcher may have left each its own alone.
at::Device device_of_rank(const at::Device& asked, int local_rank, int devices);
// Nothing where this process sees none.
std::optional<at::Device> cuda_device_of_rank(int local_rank);

// What needs a device without a tensor that says which, such as pinned memory, takes this one.
void make_current(const at::Device& device);

// The devices this libtorch can train on here: cpu, then cuda:N with the maker's name.
std::vector<std::string> device_names();

// The vector instructions that libtorch uses on this CPU, as it says itself: "AVX2".
std::string cpu_capability();

// On a CUDA device, asks libtorch for the same bits in every run, and for float32 where float32 was asked for.
void prefer_repeatable(const at::Device& device);

// `host` where `options` say and in their type, without waiting. On the CPU it may be the same memory.
at::Tensor sent(const at::Tensor& host, const at::TensorOptions& options);

// Tensors of one number each, in one copy.
std::vector<double> brought_home(const std::vector<at::Tensor>& numbers);

// The numbers in float32 on the host, each row in one piece; the same memory where it may be.
at::Tensor readable(const at::Tensor& tensor);

std::vector<float> plain_values(const at::Tensor& tensor);

}  // namespace eureka
