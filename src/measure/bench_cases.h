// What `eureka bench` measures: models of fixed sizes on images, and the shipped presets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/transformer_layout.h"
#include "train/catalog.h"

namespace eureka {

struct BenchCase {
  std::string name;
  std::int64_t batch = 128;
  EngineConfig config;
  std::shared_ptr<const Task> task = nullptr;  // whose batches it learns; nullptr: random ones of the same shape

  TransformerPlan plan() const;
};

// The catalog resolves the configs of the presets.
std::vector<BenchCase> bench_cases(const Catalog& catalog);

// Multiplications and additions of the matrix products in one step, forward and backward, of the whole model: nothing
// is taken off for what an engine leaves out because it is not needed.
double full_flops(const BenchCase& one);

Batch bench_batch(const BenchCase& one);

}  // namespace eureka
