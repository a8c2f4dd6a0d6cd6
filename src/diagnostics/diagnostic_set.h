// Several diagnostics that look at the same samples in one pass.
//
//   DiagnosticSet set;
//   set.add("attention", Registry<Diagnostic>::instance().make("attention"));
//   NamedNumbers numbers = set.look(engine, batch, step, 16);
#pragma once

#include <memory>

#include "diagnostics/diagnostic.h"
#include "engine/engine.h"

namespace eureka {

class DiagnosticSet {
 public:
  void add(const std::string& name, std::unique_ptr<Diagnostic> diagnostic);
  bool empty() const { return members_.empty(); }

  // At the first `samples` of the batch, at `step` of the training. Changes no bit of what the engine computes.
  NamedNumbers look(Engine& engine, const Batch& batch, std::int64_t step, std::int64_t samples);

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
