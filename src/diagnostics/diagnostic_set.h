// Several diagnostics that look at the same samples in one pass.
//
//   DiagnosticSet set;
//   set.add("attention", Registry<Diagnostic>::instance().make("attention"));
//   Look look = set.look(engine, {.batch = batch, .step = step, .samples = 16, .task = task.get()});
#pragma once

#include <memory>
#include <optional>

#include "diagnostics/diagnostic.h"
#include "engine/engine.h"

namespace eureka {

struct LookRequest {
  const Batch& batch;
  std::int64_t step = 0;     // of the training
  std::int64_t samples = 0;  // the first so many of the batch; 0, or more than there are: all
  const Task* task = nullptr;
  bool gradient_pending = false;               // engine.gradient(batch, step) has been called and no update followed
  std::optional<LastUpdate> last_update = {};  // what the training did before, if it did something
};

struct LookResult {
  NamedNumbers numbers;
  std::vector<LookFile> files;  // names begin with the diagnostic's: "maps/attention.png"
};

class DiagnosticSet {
 public:
  void add(const std::string& name, std::unique_ptr<Diagnostic> diagnostic);
  bool empty() const { return members_.empty(); }
  // Whether somebody wants the gradients of the parameters, which a step of the training has anyway.
  bool wants_parameters() const;

  // What all of them together ask for; nothing, where there are none.
  ObservationRequest wants() const;

  // Changes no bit of what the engine computes.
  LookResult look(Engine& engine, const LookRequest& request);

 private:
  struct Member {
    std::string name;
    std::unique_ptr<Diagnostic> diagnostic;
    ObservationRequest request;
  };
  class Distributor;

  std::vector<Member> members_;
};

}  // namespace eureka
