// A task: what is learned. It draws labelled batches as a pure function of (seed, stream, step) into plain arrays.
//
//   auto task = Registry<Task>::instance().make("two-step", values);
//   Batch batch;
//   task->sample({.seed = 1, .stream = "train", .step = 400, .samples = 128}, batch);
//
// Ensures: the same request gives the same bytes; oracle() recovers every label from the inputs alone; a model that has
// learned everything but the hidden intermediate step reaches plateau_accuracy() and no more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/registry.h"

namespace eureka {

// What a token is to the task, so that diagnostics can name it.
enum class TokenRole : std::uint8_t { indicator, target, distractor };
constexpr auto enum_names(TokenRole) { return std::array{"indicator", "target", "distractor"}; }

// A hidden variable of a sample. `intermediate` ones depend on the step that is hard to find: knowing only the others,
// a predictor is stuck on the plateau. `irrelevant` ones are seen in the input but mean nothing for the label.
struct Latent {
  std::string name;
  int classes = 0;
  bool intermediate = false;
  bool irrelevant = false;
  std::vector<std::string> value_names = {};  // for people; empty: the numbers say it
};

// What a sample is made of.
enum class InputKind : std::uint8_t { vectors, ids, image };

enum class LossKind : std::uint8_t { cross_entropy, squared };
constexpr auto enum_names(LossKind) { return std::array{"cross-entropy", "squared"}; }

struct ImageShape {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  std::int64_t values() const { return height * width * channels; }
  bool operator==(const ImageShape&) const = default;
};

// The sizes a model needs to know.
struct TaskShape {
  std::int64_t tokens = 0;      // per sample; 0 for an image, which the model cuts into tokens
  std::int64_t dimension = 0;   // of each token that is a vector
  std::int64_t classes = 0;     // of the label; with the squared loss, how many numbers are predicted
  std::int64_t vocabulary = 0;  // above 0: tokens are ids below it
  ImageShape image = {};
  bool every_position = false;  // a label for each token, not one per sample
  LossKind loss = LossKind::cross_entropy;

  InputKind input() const {
    return vocabulary > 0 ? InputKind::ids : image.values() > 0 ? InputKind::image : InputKind::vectors;
  }
  // Floats of one sample in Batch::inputs.
  std::int64_t values() const {
    return input() == InputKind::ids ? 0 : input() == InputKind::image ? image.values() : tokens * dimension;
  }
  std::int64_t labels() const { return every_position ? tokens : 1; }
};

struct SampleRequest {
  std::uint64_t seed = 0;
  std::string stream = "train";  // "train", "validation", ...: independent draws
  std::uint64_t step = 0;
  std::int64_t samples = 0;
};

// Row-major arrays; kept by the caller and refilled, so that no step allocates.
struct Batch {
  std::int64_t samples = 0;
  std::vector<float> inputs;          // samples x tokens x dimension, or samples x height x width x channels
  std::vector<std::int32_t> ids;      // samples x tokens
  std::vector<std::int64_t> labels;   // samples x labels(); below 0: nothing is asked there
  std::vector<float> targets;         // samples x labels() x classes, for the squared loss
  std::vector<std::uint8_t> visible;  // samples x tokens, 0: no token attends to this one; empty: all are visible
  std::vector<TokenRole> roles;       // samples x tokens, or samples x tiles of an image in reading order
  std::vector<int> latents;           // samples x latents().size()

  // Makes room for everything but `visible`, which is left empty.
  void resize(std::int64_t sample_count, const TaskShape& shape, std::size_t latent_count);
};

class Task {
 public:
  virtual ~Task() = default;

  virtual TaskShape shape() const = 0;
  virtual std::vector<Latent> latents() const = 0;
  virtual void sample(const SampleRequest& request, Batch& batch) const = 0;

  // The labels, worked out from batch.inputs only.
  virtual std::vector<std::int64_t> oracle(const Batch& batch) const = 0;

  // Accuracy of the best predictor that lacks the intermediate step.
  virtual double plateau_accuracy() const = 0;

  // Where a model may already sit on the plateau that mistakes some of what it sees.
  virtual double plateau_floor() const { return plateau_accuracy(); }
};

}  // namespace eureka

#define EUREKA_TASK(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::Task, "task", name, Class, Options, description)
