// The device that a rank works on: one of its own.
#pragma once

#include <string>
#include <vector>

#include "engine/ranks.h"
#include "nn/torch.h"

namespace eureka {

// As its rank tells the others.
struct RankDevice {
  std::string machine;
  std::string name;      // "cuda:1", as that rank counts them
  std::string identity;  // of the hardware; two ranks may know it by different names
};
RankDevice device_told(const at::Device& device);
std::string text_of(const RankDevice& device);
RankDevice device_in(const std::string& text);

// By rank. Throws Error(config) when two of them are the same.
void refuse_shared(const std::vector<RankDevice>& devices);

}  // namespace eureka
