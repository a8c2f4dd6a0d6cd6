// A network in which samples do not meet: they go through it in microbatches, each on one thread, forward and at once
// backward, while the activations are in the cache.
#pragma once

#include <memory>
#include <vector>

#include "engine/fused_network.h"

namespace eureka {

// A forward and a backward pass of a few samples, on memory of its own: one per thread.
class SamplePass {
 public:
  virtual ~SamplePass() = default;

  // noise_step: the step whose dropout and stochastic depth are in force; below 0: none.
  virtual void forward(const Batch& batch, SampleRange samples, std::int64_t noise_step, Wanted wanted) = 0;
  // Adds to a flat gradient; gradients by the predictions are expected in d_predictions().
  virtual void backward(float* gradient) = 0;

  // A row for every answer.
  virtual const float* predictions() const = 0;
  virtual float* d_predictions() = 0;
};

class SamplewiseNetwork : public FusedNetwork {
 public:
  // A sample takes `rows` rows of the matrices inside.
  SamplewiseNetwork(FlatLayout layout, const TaskShape& shape, std::size_t rows);

  std::size_t groups(std::size_t samples) const override { return group_count(samples, rows_); }
  void pass(const BatchPass& pass, ThreadPool& pool, AnswerSink& sink) override;
  void look(const Look& look, ThreadPool& pool, AnswerSink& sink) override;

 protected:
  // One for every thread.
  void add_pass(std::unique_ptr<SamplePass> pass) { passes_.push_back(std::move(pass)); }

 private:
  std::size_t rows_, microbatch_;
  std::vector<std::unique_ptr<SamplePass>> passes_;
};

// How many samples of so many rows go through a net together: their activations stay in the second-level cache, and
// there are enough rows to fill the tiles of the products.
std::size_t microbatch_of(std::size_t rows);

}  // namespace eureka
