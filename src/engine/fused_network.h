// What the fused engine trains: a network that lays out its parameters in one flat buffer and takes batches through
// itself, forward and backward. Losses, optimizer, state and threads are the engine's.
//
//   network.allocate();                                          once; network.memory(...) says before what that takes
//   network.take_weights(values, step);                          once before the passes of a step
//   network.pass({.batch = batch, .step = 3, .gradients = groups}, pool, losses);
//
// Ensures: bits do not depend on the number of threads of the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/engine.h"
#include "kernels/buffer.h"

namespace eureka {

// A parameter in the flat buffer.
using Slot = ParameterPart;

// Where each parameter lies in one flat buffer whose rows are padded with zeros to whole cache lines.
struct FlatLayout {
  explicit FlatLayout(std::vector<ParameterSpec> specs);

  // One that does not exist(): there is no such parameter.
  Slot find(const std::string& name) const;

  std::vector<ParameterSpec> specs;
  std::vector<Slot> slots;  // in the order of specs
  std::size_t floats = 0;
};

struct SampleRange {
  std::size_t first;
  std::size_t count;
};

// What becomes of the predictions of a few samples. Called by several threads at once, for different samples.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Both have a row for every answer of the samples, whole cache lines apart; predictions that nobody wants have no
  // meaning. `gradient` receives the gradient of the loss by the predictions, and zeros behind them.
  virtual void take(SampleRange samples, const float* predictions, float* gradient) = 0;
};

// Which predictions somebody wants: a network may leave out the others.
enum class Wanted { asked, all };

// One way of a batch through a network: in training if there are gradients.
struct BatchPass {
  const Batch& batch;
  std::int64_t step = -1;            // whose dropout and stochastic depth are in force; below 0: none
  std::span<Buffer> gradients = {};  // added to, one for each of groups(samples); empty: forward only
  Wanted wanted = Wanted::asked;
};

// Somebody looks inside a training pass.
struct Look {
  const Batch& batch;
  std::int64_t step;
  const ObservationRequest& request;
  ObservationSink& sink;
  float* gradient;  // receives that by the parameters; nullptr: no backward pass is asked for
};

// What a network learns beside its parameters, and without a gradient: running statistics.
struct NetworkState {
  std::string name;
  std::span<float> values;
};

// Bytes, as far as they lie in buffers.
struct NetworkMemory {
  std::size_t weights = 0;      // the parameters again, packed for the products
  std::size_t activations = 0;  // of all threads
  std::size_t looking = 0;      // of those who look inside, taken at the first look
};

class FusedNetwork {
 public:
  FusedNetwork(FlatLayout layout, const TaskShape& shape);
  virtual ~FusedNetwork() = default;
  FusedNetwork(const FusedNetwork&) = delete;
  FusedNetwork& operator=(const FusedNetwork&) = delete;

  const FlatLayout& layout() const { return layout_; }
  std::size_t answers() const { return answers_; }  // per sample
  std::size_t class_stride() const { return class_stride_; }

  // What it takes to train on batches of so many samples and to be looked at so; no points: nobody looks.
  virtual NetworkMemory memory(std::size_t samples, const ObservationRequest& look) const = 0;
  // Which options make it smaller.
  virtual const char* how_to_shrink() const = 0;

  // Takes the memory, zeroed. A network without it only knows its layout and its needs.
  virtual void allocate() = 0;

  // Samples are split into groups, each with a gradient of its own. Fixed by how many there are, never by threads.
  virtual std::size_t groups(std::size_t samples) const = 0;

  // Prepares the values, in the flat layout, for the passes that follow; they must outlive them.
  // step: decides the scale of attention, and what is done to its heads.
  virtual void take_weights(const float* values, std::int64_t step) = 0;

  virtual void pass(const BatchPass& pass, ThreadPool& pool, AnswerSink& sink) = 0;

  // Kept in checkpoints beside the parameters.
  virtual std::vector<NetworkState> state() { return {}; }
  // Takes what the last pass in training has to teach it: with the update, since a gradient may be computed only to be
  // seen.
  virtual void learn_state() {}

  // Without any point to look at, a network still has a gradient.
  virtual void look(const Look& look, ThreadPool& pool, AnswerSink& sink) = 0;

 private:
  FlatLayout layout_;
  std::size_t answers_, class_stride_;
};

// The most groups that a network may choose.
inline constexpr std::size_t kMostGroups = 8;
// A choice that suits networks whose samples are `rows` rows each.
std::size_t group_count(std::size_t samples, std::size_t rows);

}  // namespace eureka
