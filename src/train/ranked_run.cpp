#include "train/ranked_run.h"

#include <array>

#include "io/toml.h"
#include "train/training_steps.h"

namespace eureka {
namespace {

// An order from rank 0, and how many wish to stop.
struct Word {
  Order order;
  bool stop;
};

Word confer(Ranks& ranks, Order order, bool stop) {
  std::array<double, 2> word = {ranks.place().leads() ? static_cast<double>(order) : 0, stop ? 1.0 : 0.0};
  ranks.add_up(word);
  return {static_cast<Order>(static_cast<int>(word[0])), word[1] > 0};
}

// As rank 0 has it.
std::int64_t shared_state(Ranks& ranks, std::int64_t step, Engine& engine) {
  std::string text = std::to_string(step);
  ranks.share(text);
  EngineState state = engine.export_state();
  for (auto* tensors : {&state.model, &state.optimizer})
    for (StateTensor& tensor : *tensors) ranks.share(tensor.values);
  if (!ranks.place().leads()) engine.import_state(state);
  return std::stoll(text);
}

}  // namespace

void Lead::share_config(const std::string& toml) {
  if (ranks_ == nullptr) return;
  std::string text = toml;
  ranks_->share(text);
}

void Lead::share_state(std::int64_t step, Engine& engine) {
  if (ranks_ != nullptr) shared_state(*ranks_, step, engine);
}

bool Lead::announce(Order order) { return ranks_ != nullptr && confer(*ranks_, order, false).stop; }

void Lead::end(RunStatus status) {
  if (ranks_ == nullptr) return;
  announce(status == RunStatus::interrupted ? Order::interrupted
           : status == RunStatus::diverged  ? Order::diverged
                                            : Order::finished);
  ranks_->leave();
}

RunStatus follow_run(Ranks& ranks, const Catalog& catalog, const std::atomic<bool>& stop) {
  std::string toml;
  ranks.share(toml);
  if (toml.empty()) {
    ranks.leave();
    return RunStatus::finished;
  }
  const RunConfig config = resolve_config(read_toml(toml, "the config of rank 0"), catalog);
  TrainingSteps steps(config, make_parts_of_rank(config, ranks));
  std::int64_t step = shared_state(ranks, 0, steps.engine());
  steps.interventions().load(step, {});
  const auto end = [&](RunStatus status) {
    ranks.leave();
    return status;
  };
  std::int64_t begun = -1;  // the step whose interventions have happened
  while (true) {
    const Order order = confer(ranks, Order::step, stop.load(std::memory_order_relaxed)).order;
    if (order == Order::finished) return end(RunStatus::finished);
    if (order == Order::interrupted) return end(RunStatus::interrupted);
    if (order == Order::diverged) return end(RunStatus::diverged);
    if (begun != step) steps.interventions().begin_step(steps.engine(), step);
    begun = step;
    if (order == Order::validate) steps.validate(step);
    if (order == Order::probes) steps.evaluate_probes(step);
    if (order == Order::gradient) steps.gradient(step);
    if (order == Order::step) steps.take(step++);
  }
}

}  // namespace eureka
