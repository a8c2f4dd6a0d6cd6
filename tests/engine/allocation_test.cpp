// A training step takes no memory from the heap.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/fused_cases.h"
#include "engine/fused_engine.h"

namespace {
std::atomic<std::size_t> allocations{0};
}

// The address sanitizer has its own: there the test runs, and counts nothing.
#ifndef __SANITIZE_ADDRESS__
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace eureka {
namespace {

TEST(FusedEngine, AllocatesNothingInAStep) {
  for (EngineConfig config :
       {base_config(), decoder_config(), everywhere_config(), vit_config(), mlp_config(), resnet_config()}) {
    for (const int threads : {1, 2}) {
      config.threads = threads;
      config.clip = 1;
      config.model_options["dropout"] = 0.1;
      config.model_options["stochastic_depth"] = 0.1;
      FusedEngine engine(config);
      const Batch batch = random_batch(config.shape, 130);
      engine.train_step(batch, {0, 1e-3});
      const std::size_t before = allocations;
      for (std::int64_t step = 1; step < 4; ++step) engine.train_step(batch, {step, 1e-3});
      EXPECT_EQ(allocations - before, 0U) << text_of(config) << " threads " << threads;
    }
  }
}

}  // namespace
}  // namespace eureka
