#include "nn/rank_device.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "base/error.h"
#include "base/process_facts.h"
#include "nn/device.h"

namespace eureka {

RankDevice device_told(const at::Device& device) {
  RankDevice told{.machine = host_name(), .name = device.str(), .identity = device_identity(device)};
  if (told.identity.empty()) told.identity = told.machine + " " + told.name;
  return told;
}

std::string text_of(const RankDevice& device) {
  return fmt::format("{}\n{}\n{}\n", device.machine, device.name, device.identity);
}

RankDevice device_in(const std::string& text) {
  RankDevice device;
  std::istringstream lines(text);
  std::getline(lines, device.machine);
  std::getline(lines, device.name);
  std::getline(lines, device.identity);
  return device;
}

void refuse_shared(const std::vector<RankDevice>& devices) {
  std::map<std::string, std::size_t> rank_on;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const auto [found, is_first] = rank_on.emplace(devices[rank].identity, rank);
    if (is_first) continue;
    throw Error(ErrorKind::config,
                fmt::format("ranks {} and {} would share device {} of {}", found->second, rank, devices[rank].name,
                            devices[rank].machine),
                {},
                "a device each: no more processes than it has devices, run.device=cuda without a number, and "
                "LOCAL_RANK as torchrun and srun set it");
  }
}

}  // namespace eureka
