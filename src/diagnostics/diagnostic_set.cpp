#include "diagnostics/diagnostic_set.h"

#include <algorithm>

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
      if (member.request.parameters != ParameterGradients::none) member.diagnostic->see_parameter(view);
  }

 private:
  std::vector<Member>& members_;
};

void DiagnosticSet::add(const std::string& name, std::unique_ptr<Diagnostic> diagnostic) {
  const ObservationRequest request = diagnostic->wants();
  members_.push_back({name, std::move(diagnostic), request});
}

bool DiagnosticSet::wants_parameters() const {
  return std::ranges::any_of(
      members_, [](const Member& member) { return member.request.parameters != ParameterGradients::none; });
}

ObservationRequest DiagnosticSet::wants() const {
  if (empty()) return {};
  ObservationRequest wanted = members_.front().request;
  for (const Member& member : members_) wanted = wanted | member.request;
  return wanted;
}

LookResult DiagnosticSet::look(Engine& engine, const LookRequest& request) {
  LookResult result;
  if (empty()) return result;
  ObservationRequest wanted = wants();
  const std::int64_t all = request.batch.samples;
  wanted.samples = request.samples > 0 ? std::min(request.samples, all) : all;
  wanted.last_update = request.last_update;
  if (wanted.parameters != ParameterGradients::none && request.gradient_pending)
    wanted.parameters = ParameterGradients::pending;
  LookContext context{.task = request.task, .batch = &request.batch, .step = request.step, .samples = wanted.samples};
  context.predictions = [&] {
    std::vector<float> predictions;
    engine.predict(request.batch, request.step, predictions);
    return predictions;
  };
  for (Member& member : members_) member.diagnostic->begin(context);
  Distributor distributor(members_);
  engine.observe(request.batch, request.step, wanted, distributor);
  for (Member& member : members_) {
    NumberRow row(member.name, result.numbers);
    member.diagnostic->report(row);
    for (LookFile& file : member.diagnostic->take_files())
      result.files.push_back({member.name + "/" + file.name, std::move(file.bytes)});
  }
  return result;
}

}  // namespace eureka
