#include "train/diagnosis.h"

#include <algorithm>

#include "train/schedule.h"

namespace eureka {

Diagnosis::Diagnosis(const RunConfig& config, const Task& task)
    : options_(config.diagnose), train_(config.train), task_(task) {
  for (const PluginChoice& choice : config.diagnostics) {
    set_.add(choice.name, Registry<Diagnostic>::instance().make(choice.name, choice.options));
    names_.push_back(choice.name);
  }
}

bool Diagnosis::due(std::int64_t step) const {
  return !set_.empty() && (options_.every == 0 || step % options_.every == 0 || step == train_.steps);
}

bool Diagnosis::wants_gradient(std::int64_t step) const {
  return due(step) && step < train_.steps && set_.wants_parameters();
}

LookResult Diagnosis::look(Engine& engine, const Batch& batch, std::int64_t step, bool gradient_pending,
                           std::span<const std::uint8_t> frozen) {
  LookRequest request{
      .batch = batch, .step = step, .samples = options_.samples, .task = &task_, .gradient_pending = gradient_pending};
  if (step > 0)
    request.last_update = LastUpdate{.step = step - 1, .lr = learning_rate(train_, step - 1), .frozen = frozen};
  LookResult look = set_.look(engine, request);
  if (!look.numbers.empty()) seen_ = MetricsRow{.step = step, .numbers = look.numbers};
  return look;
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
