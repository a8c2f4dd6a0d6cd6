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
  seen_ = MetricsRow{.step = step, .numbers = numbers};
  return numbers;
}

void Diagnosis::remember(const MetricsRow& row) {
  MetricsRow seen{.step = row.step, .numbers = {}};
  for (const auto& [name, value] : row.numbers)
    if (std::any_of(names_.begin(), names_.end(),
                    [&name = name](const auto& own) { return name.starts_with(own + "/"); }))
      seen.add(name, value);
  if (!seen.numbers.empty()) seen_ = std::move(seen);
}

}  // namespace eureka
