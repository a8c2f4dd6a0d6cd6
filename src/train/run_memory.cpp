#include "train/run_memory.h"

#include <fmt/format.h>

#include "engine/fused_engine.h"
#include "train/diagnosis.h"
#include "train/moment_checkpoints.h"

namespace eureka {
namespace {

// Of batches with this many samples in all.
std::size_t batch_bytes(const Task& task, const EngineConfig& engine, std::size_t samples) {
  const TaskShape shape = task.shape();
  Batch one;
  one.resize(1, shape, task.latents().size());
  const auto answers = static_cast<std::size_t>(shape.labels()), tokens = one.roles.size();
  std::size_t bytes = (one.inputs.size() + one.targets.size()) * sizeof(float) + one.ids.size() * sizeof(std::int32_t) +
                      one.labels.size() * sizeof(std::int64_t) + one.latents.size() * sizeof(int) + tokens;
  bytes += answers + tokens;  // who is asked, and who is seen
  if (engine.interventions.attention.kind == FixedKind::wanted) bytes += answers * tokens;
  return samples * bytes;
}

}  // namespace

std::optional<MemoryNeeds> run_memory(const RunConfig& config, const Task& task) {
  const EngineConfig engine = engine_config(config, task.shape());
  if (config.run.engine == EngineChoice::reference || why_not_fused(engine)) return std::nullopt;
  const auto batch = static_cast<std::size_t>(config.train.batch),
             validation = static_cast<std::size_t>(config.train.validation_samples);
  ObservationRequest look = Diagnosis(config, task).wants();
  if (look.parameters != ParameterGradients::none) look.last_update.emplace();
  MemoryNeeds needs = fused_memory(engine, batch, look);
  needs.data = batch_bytes(task, engine, batch + (1 + task.probes().size()) * validation);
  if (config.run.around_moment > 0) {
    const std::size_t flat = needs.optimizer / (engine.optimizer.kind == OptimizerKind::sgd ? 1 : 2);
    needs.states =
        MomentCheckpoints::most_bytes_held(flat + needs.optimizer, config.train.steps / config.run.around_moment);
  }
  if (needs.data > needs.activations) needs.how_to_shrink = "make train.validation_samples or train.batch smaller";
  return needs;
}

void refuse_beyond_machine(const RunConfig& config, const Task& task, std::size_t runs_at_a_time) {
  const auto needs = run_memory(config, task);
  if (!needs) return;
  const auto bytes = static_cast<double>(needs->total());
  refuse_beyond_machine("this run needs", bytes, needs->how_to_shrink);
  refuse_beyond_machine(fmt::format("{} runs at a time need", runs_at_a_time),
                        bytes * static_cast<double>(runs_at_a_time), "choose fewer with --jobs");
}

}  // namespace eureka
