#include "diagnostics/diagnostic_set.h"

namespace eureka {

// Passes on to everybody what may concern them.
class DiagnosticSet::Distributor final : public ObservationSink {
 public:
  explicit Distributor(std::vector<Member>& members) : members_(members) {}

  void see(const ObservationView& view) override {
    for (Member& member : members_)
      if (!member.request.points.empty() && member.request.wants(view.layer)) member.diagnostic->see(view);
  }
  void see_parameter(const ParameterView& view) override {
    for (Member& member : members_)
      if (member.request.parameter_gradients) member.diagnostic->see_parameter(view);
  }

 private:
  std::vector<Member>& members_;
};

void DiagnosticSet::add(const std::string& name, std::unique_ptr<Diagnostic> diagnostic) {
  const ObservationRequest request = diagnostic->wants();
  members_.push_back({name, std::move(diagnostic), request});
}

NamedNumbers DiagnosticSet::look(Engine& engine, const Batch& batch, std::int64_t step, std::int64_t samples) {
  NamedNumbers numbers;
  if (empty()) return numbers;
  ObservationRequest request = members_.front().request;
  for (const Member& member : members_) request = request | member.request;
  request.samples = samples;
  Distributor distributor(members_);
  engine.observe(batch, step, request, distributor);
  for (Member& member : members_) {
    NumberRow row(member.name, numbers);
    member.diagnostic->report(row);
  }
  return numbers;
}

}  // namespace eureka
