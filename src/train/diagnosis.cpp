#include "train/diagnosis.h"

#include <algorithm>

namespace eureka {

Diagnosis::Diagnosis(const RunConfig& config) : options_(config.diagnose), last_step_(config.train.steps) {
  for (const PluginChoice& choice : config.diagnostics) {
    set_.add(choice.name, Registry<Diagnostic>::instance().make(choice.name, choice.options));
    names_.push_back(choice.name);
  }
}

bool Diagnosis::due(std::int64_t step) const {
  return !set_.empty() && (options_.every == 0 || step % options_.every == 0 || step == last_step_);
}

NamedNumbers Diagnosis::look(Engine& engine, const Batch& batch, std::int64_t step) {
  NamedNumbers numbers = set_.look(engine, batch, step, options_.samples);
  if (numbers.empty()) return numbers;
  summary_ = {{"step", step}};
  for (const auto& [name, value] : numbers) summary_[name] = value;
  return numbers;
}

void Diagnosis::remember(const nlohmann::ordered_json& row) {
  nlohmann::ordered_json seen = {{"step", row.at("step")}};
  for (const auto& [name, value] : row.items())
    if (std::any_of(names_.begin(), names_.end(), [&](const auto& own) { return name.starts_with(own + "/"); }))
      seen[name] = value;
  if (seen.size() > 1) summary_ = std::move(seen);
}

nlohmann::ordered_json Diagnosis::summary() const { return summary_; }

}  // namespace eureka
