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

// Of a task whose inputs are images. A token is a square patch, patches in reading order, and within it channels, rows
// and columns: tokens x dimension is the input of a patch embedding as it stands, and a row of its weight is the kernel
// of the equivalent convolution. patches_to_planes() (tasks/image_layout.h) gives channels x height x width.
struct ImageShape {
  std::int64_t channels = 0;  // 0: the task has no images
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t patch = 0;  // side of a patch

  explicit operator bool() const { return channels > 0; }
  bool operator==(const ImageShape&) const = default;
};

// The sizes a model needs to know.
struct TaskShape {
  std::int64_t tokens = 0;
  std::int64_t dimension = 0;  // of each token
  std::int64_t classes = 0;    // of the label
  ImageShape image = {};
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
  std::vector<float> inputs;         // samples x tokens x dimension
  std::vector<std::int64_t> labels;  // samples
  std::vector<TokenRole> roles;      // samples x tokens
  std::vector<int> latents;          // samples x latents().size()

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
};

}  // namespace eureka

#define EUREKA_TASK(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::Task, "task", name, Class, Options, description)
