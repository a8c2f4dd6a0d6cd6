// What the program finds in the torch library with dlsym.
#include <dlfcn.h>
#include <fmt/format.h>

#include "engine/rank_sums.h"
#include "nn/device.h"
#include "nn/guarded_engine.h"
#include "nn/process_group.h"

extern "C" {

int eureka_engine_interface() { return eureka::kEngineInterface; }

eureka::Engine* eureka_make_reference_engine(const eureka::EngineConfig& config) {
  return eureka::make_guarded_engine(config).release();
}

eureka::Ranks* eureka_join_ranks(const eureka::RankPlace& place) { return eureka::join_process_group(place).release(); }

void eureka_rank_sums(eureka::RankSums& sums) {
  sums = {.gloo = bool(eureka::gloo_connection()), .nccl = bool(eureka::nccl_connection())};
}

void eureka_torch_facts(eureka::TorchFacts& facts) {
  facts.version = fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
  Dl_info where{};
  if (::dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &where) != 0 && where.dli_fname != nullptr)
    facts.path = where.dli_fname;
  facts.devices = eureka::device_names();
}
}
