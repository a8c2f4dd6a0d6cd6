// A diagnostic: named numbers that say what happens inside a model. It states what it wants to see, adds up what it is
// shown, and reports. It does not know whether that is a run in training, a checkpoint or somebody else's model.
//
//   auto attention = Registry<Diagnostic>::instance().make("attention");
//   attention->begin({.batch = &batch, .samples = 16});
//   engine.observe(batch, step, attention->wants(), sink);          the sink passes its views on to see()
//   NumberRow row("attention", numbers);
//   attention->report(row);                                         "attention/entropy/layer0/head1", 0.93
//
// Ensures: the numbers depend on what was shown since the last report only, not on how it was split into views; a
// number without a meaning for what was shown is left out, never a placeholder.
//
// One diagnostic is one file in this folder, registered by EUREKA_DIAGNOSTIC.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.h"
#include "engine/observation.h"
#include "tasks/task.h"

namespace eureka {

// What a number is, told once.
struct NumberInfo {
  std::string name;     // "entropy"
  std::string unit;     // "nats", "share of log(keys)"
  std::string meaning;  // one line
};

// What is looked at, beside the views.
struct LookContext {
  const Task* task = nullptr;    // nullptr: nobody knows roles and latents
  const Batch* batch = nullptr;  // never nullptr in begin()
  std::int64_t step = 0;
  std::int64_t samples = 0;  // the first so many of the batch are seen
  // Class logits, or predicted numbers, of the whole batch, for those who ask: samples x labels() x classes.
  std::function<std::vector<float>()> predictions = {};
};

// What does not fit into a row of numbers: a picture, a file of tensors.
struct LookFile {
  std::string name;  // "attention.png"
  std::string bytes;
};

using NamedNumbers = std::vector<std::pair<std::string, double>>;

// Appends the numbers of one diagnostic under its name. What is not finite is left out.
class NumberRow {
 public:
  NumberRow(std::string diagnostic, NamedNumbers& numbers) : diagnostic_(std::move(diagnostic)), numbers_(numbers) {}

  // "gradients/norm/head"
  void add(const std::string& number, double value) { append(number, value); }
  // "attention/entropy/layer0"
  void add(const std::string& number, int layer, double value);
  // The mean over the heads, then "attention/entropy/layer0/head0", ...
  void add_heads(const std::string& number, int layer, const std::vector<double>& values);

 private:
  void append(const std::string& name, double value);

  std::string diagnostic_;
  NamedNumbers& numbers_;
};

class Diagnostic {
 public:
  virtual ~Diagnostic() = default;

  // Every number that report() may append.
  virtual std::vector<NumberInfo> numbers() const = 0;

  // How many samples is up to who asks.
  virtual ObservationRequest wants() const = 0;

  virtual void begin(const LookContext&) {}

  // May be shown more than it wants: what others asked for at the same time.
  virtual void see(const ObservationView&) {}
  virtual void see_parameter(const ParameterView&) {}

  // Appends what was seen, and begins anew.
  virtual void report(NumberRow& row) = 0;
  // What the report has beside numbers; gone when it is asked for again.
  virtual std::vector<LookFile> take_files() { return {}; }
};

// Of what its declaration says; nothing for a diagnostic or number that is not known, as of a later eureka.
std::string unit_of_number(const std::string& diagnostic, const std::string& number);

}  // namespace eureka

#define EUREKA_DIAGNOSTIC(name, Class, Options, description) \
  EUREKA_REGISTER(::eureka::Diagnostic, "diagnostic", name, Class, Options, description)
