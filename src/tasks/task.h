// A task: what is learned. It draws labeled batches as a pure function of (seed, stream, step) into plain arrays, and
// declares what others must know of it: sizes, roles of the tokens, hidden variables, metric.
//
//   auto task = Registry<Task>::instance().make("copy", values);
//   Batch batch;
//   task->sample({.seed = 1, .stream = "train", .step = 400, .samples = 128}, batch);
//   task->metric().name                                   "accuracy"
//   task->roles()[batch.roles[token]].name                "source"
//
// A sample is a row of vectors, a row of ids, or an image. It has one label, or one at every position; of those, the
// mask `Batch::asked` chooses the ones that count.
//
// Ensures: the same request gives the same bytes; the oracle recovers every answer that is asked for from the inputs
// alone; a model that has learned everything but the hidden intermediate step reaches metric().plateau and no more.
// tests/tasks/conformance_test.cpp holds every registered task to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/registry.h"
#include "tasks/metric.h"

namespace eureka {

// What a token is to the task, in the task's own words, so that diagnostics and pictures can name it.
struct Role {
  std::string name;      // "indicator", "separator", ...
  std::string meaning;   // one line for people
  bool matters = false;  // tokens of this role are keys that an answer may depend on
};

// A hidden variable of an answer. `intermediate` ones depend on the step that is hard to find: knowing only the others,
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
//
//   {.tokens = 4, .dimension = 16, .classes = 10}                            four vectors, one label
//   {.tokens = 16, .classes = 8, .vocabulary = 9, .every_position = true}    sixteen ids, a label at each
//   {.tokens = 20, .dimension = 4, .classes = 1, .every_position = true, .loss = LossKind::squared}    regression
struct TaskShape {
  std::int64_t tokens = 0;      // per sample; 0 for an image, which the model cuts into tokens
  std::int64_t dimension = 0;   // of each token that is a vector
  std::int64_t classes = 0;     // of the label; with the squared loss, how many numbers are predicted
  std::int64_t vocabulary = 0;  // above 0: tokens are ids below it
  ImageShape image = {};
  bool every_position = false;  // a label for each token, not one per sample
  bool looks_ahead = false;     // an answer may depend on tokens after its own, as for a hidden word: no decoder can
  LossKind loss = LossKind::cross_entropy;

  InputKind input() const {
    return vocabulary > 0 ? InputKind::ids : image.values() > 0 ? InputKind::image : InputKind::vectors;
  }
  // Floats of one sample in Batch::inputs.
  std::int64_t values() const {
    return input() == InputKind::ids ? 0 : input() == InputKind::image ? image.values() : tokens * dimension;
  }
  // Answers of one sample, whether they are asked for or not.
  std::int64_t labels() const { return every_position ? tokens : 1; }
};

struct SampleRequest {
  std::uint64_t seed = 0;
  std::string stream = "train";  // "train", "validation", ...: independent draws
  std::uint64_t step = 0;
  std::int64_t samples = 0;
};

// Row-major arrays; kept by the caller and refilled, so that no step allocates.
//
// Invariant: where `asked` is 0 nobody reads label, target and latents, whatever they are. At least one answer is
// asked for.
struct Batch {
  std::int64_t samples = 0;
  std::vector<float> inputs;          // samples x tokens x dimension, or samples x height x width x channels
  std::vector<std::int32_t> ids;      // samples x tokens
  std::vector<std::int64_t> labels;   // samples x labels(); empty with the squared loss
  std::vector<float> targets;         // samples x labels() x classes, with the squared loss
  std::vector<std::uint8_t> asked;    // samples x labels(), 0: this answer does not count; empty: all do
  std::vector<std::uint8_t> visible;  // samples x tokens, 0: no token attends to this one; empty: all are visible
  // Samples x labels() x tokens (patches, in an image), 1: a key of this answer to which fixed attention goes. Only
  // those who fix attention fill it (engine/head_interventions.h).
  std::vector<std::uint8_t> wanted;
  std::vector<std::uint8_t> roles;  // which of Task::roles(): samples x tokens, or samples x tiles in reading order
  std::vector<int> latents;         // samples x labels() x Task::latents().size()

  // Makes room for everything but the masks, which are left empty.
  void resize(std::int64_t sample_count, const TaskShape& shape, std::size_t latent_count);

  // `answer` counts over all samples: sample x labels() + position.
  bool asks(std::size_t answer) const { return asked.empty() || asked[answer] != 0; }
  // Of all `answers` there are, those that are asked for.
  std::size_t asked_count(std::size_t answers) const {
    return asked.empty() ? answers : answers - static_cast<std::size_t>(std::count(asked.begin(), asked.end(), 0));
  }
};

// A stream beside "validation" that a run is judged by too: what it scores there is logged as val_<metric>/<name>,
// or as val_loss/<name> and val_accuracy/<name> where the metric is in bits.
struct Probe {
  std::string name;    // lower case and underscores
  std::string stream;  // of SampleRequest
};

class Task {
 public:
  virtual ~Task() = default;

  virtual TaskShape shape() const = 0;
  virtual Metric metric() const = 0;
  virtual std::vector<Role> roles() const = 0;
  virtual std::vector<Latent> latents() const = 0;
  virtual void sample(const SampleRequest& request, Batch& batch) const = 0;

  // The labels, or with the squared loss the targets, worked out from the inputs only; what stands where nothing is
  // asked does not matter. Empty where nobody can know them, as in natural text: then metric() is in bits.
  virtual std::vector<std::int64_t> oracle(const Batch& /*batch*/) const { return {}; }
  virtual std::vector<float> oracle_targets(const Batch& /*batch*/) const { return {}; }

  // The tokens (tiles, in an image) of its sample that an answer depends on: where a model that has understood looks.
  // Unless a task knows better, all whose role matters and that the answer may see.
  virtual std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const;

  // Whether all labels are equally likely; otherwise the commonest may be no better than the plateau.
  virtual bool balanced() const { return true; }
  // Whether samples are so few that "train" has some of them and every other stream the rest.
  virtual bool finite() const { return false; }
  virtual std::vector<Probe> probes() const { return {}; }
};

}  // namespace eureka

#define EUREKA_TASK(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::Task, "task", name, Class, Options, description)
