#include "train/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/directory_lock.h"
#include "train/detection.h"
#include "train/diagnosis.h"
#include "train/interventions.h"
#include "train/moment_checkpoints.h"
#include "train/noted_rises.h"
#include "train/ranked_run.h"
#include "train/records/branch_origin.h"
#include "train/run_memory.h"
#include "train/schedule.h"
#include "train/training_steps.h"

namespace eureka {
namespace {

std::optional<double> if_finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

// A run that is resumed says later from where, and what its log tells of its interventions.
TrainingSteps steps_of(const RunConfig& config, RunParts parts, bool resumed) {
  TrainingSteps steps(config, std::move(parts));
  if (!resumed) steps.interventions().load(0, {});
  return steps;
}

// A branch has no past of its own to go back to: from step 0 it would be another run.
void refuse_before_branch(const fs::path& run, std::int64_t step) {
  const std::optional<BranchOrigin> origin = read_origin(run);
  if (!origin || step >= origin->step) return;
  throw Error(ErrorKind::input, fmt::format("this run is a branch and begins at step {}, not {}", origin->step, step),
              run.string(),
              fmt::format("resume with --step {}, or make the branch again with --out DIR", origin->step));
}

// What the last evaluation said.
struct Measured {
  double loss = 0;
  double metric = 0;
};

class TrainingRun {
 public:
  TrainingRun(const RunConfig& config, const RunRequest& request, RunParts parts, const MakeParts& make,
              RunObserver& observer, const std::atomic<bool>& stop)
      : config_(config),
        observer_(observer),
        stop_(stop),
        lead_(request.ranks),
        steps_(steps_of(config, std::move(parts), request.resume)),
        // Opened last: a config that no engine takes, or whose data are missing, leaves no directory behind.
        directory_(request.resume ? RunDirectory::reopen(request.directory, config)
                                  : RunDirectory::create(request.directory, config)),
        metric_(steps_.task().metric()),
        detector_(detector_options(steps_.task(), config)),
        diagnosis_(config, steps_.task()),
        around_moments_(config, request.directory, make, request.saves_moments),
        most_to_lose_(request.most_to_lose) {
    if (request.resume) restore(request.resume_step);
    lead_.share_state(loop_.step, steps_.engine());
  }

  RunOutcome execute();

 private:
  void restore(std::optional<std::int64_t> step);
  RunStatus train();
  bool train_one_step();
  bool evaluate();
  bool enough() const;
  MetricsRow metrics_row();
  void write_row(const MetricsRow& row);
  // Rises confirmed or withdrawn by the row of `step`; `log` is false while a resumed run reads its rows again.
  void note_rises(std::int64_t step, bool log);
  void diverge(const char* what, double value);
  void checkpoint();
  // A run that is stopped between two checkpoints, or keeps none, continues from here. No part of what it leaves: no
  // event tells of it, and it is gone as soon as there is a later one.
  void checkpoint_for_now();
  bool has_much_to_lose() const;
  void remove_temporary();
  RunMeta meta(RunStatus status) const;
  RunSummary summary(RunStatus status);

  const RunConfig& config_;
  RunObserver& observer_;
  const std::atomic<bool>& stop_;
  Lead lead_;
  TrainingSteps steps_;
  RunDirectory directory_;
  Metric metric_;
  MomentDetector detector_;
  Diagnosis diagnosis_;
  MomentCheckpoints around_moments_;
  LoopState loop_;
  bool asked_to_stop_ = false;  // some rank
  std::int64_t last_row_step_ = -1;
  Measured last_{std::nan(""), std::nan("")};
  std::int64_t checkpoint_step_ = -1;  // of the last checkpoint that stays
  std::int64_t temporary_step_ = -1;   // of the last one, if that one does not
  NotedRises noted_;
  std::optional<std::int64_t> confirmed_at_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_saved_ = start_;
  std::chrono::milliseconds most_to_lose_;
};

void TrainingRun::restore(std::optional<std::int64_t> step) {
  const std::vector<std::int64_t> steps = list_checkpoints(directory_.path());
  if (!step) step = steps.empty() ? 0 : steps.back();
  refuse_before_branch(directory_.path(), *step);
  if (*step > 0) {
    const Checkpoint saved = read_checkpoint(directory_.path(), *step);
    steps_.engine().import_state(saved.engine);
    loop_ = saved.loop;
    (loop_.temporary ? temporary_step_ : checkpoint_step_) = *step;
    loop_.temporary = loop_.around_moment = false;
  }
  if (Interventions& interventions = steps_.interventions(); interventions.any())
    interventions.load(loop_.step, read_events(directory_.path(), loop_.events_bytes));
  directory_.rewind(loop_);
  // What the one before us had no time for.
  remove_temporary_checkpoints(directory_.path(), loop_.step);
  // The detector has no state of its own to save: it is a function of the curve.
  for (const MetricsRow& row : read_metrics(directory_.path(), {"val_" + metric_.key(), kValidationLoss})) {
    last_ = {row.at(kValidationLoss), row.at("val_" + metric_.key())};
    add_row(row, metric_, detector_);
    last_row_step_ = row.step;
    diagnosis_.remember(row);
    note_rises(row.step, false);
    observer_.on_row(row, detector_.findings());
  }
  prune_checkpoints(directory_.path(), temporary_step_ < 0 ? config_.run.keep_checkpoints : 0,
                    around_moments_.chosen());
}

RunOutcome TrainingRun::execute() {
  // Before the file: whoever sees that may send a signal, and is told how long its step may take.
  observer_.on_start(steps_.engine().name(), loop_.step, config_.train.steps);
  directory_.write_meta(meta(RunStatus::running));
  try {
    const RunStatus status = train();
    lead_.end(status);
    if (status == RunStatus::interrupted) {
      directory_.write_meta(meta(status));
      return {status, {}};
    }
    const RunSummary result = summary(status);
    remove_temporary();
    if (config_.run.keep == Keep::summary) directory_.drop_all_but_logs();
    RunMeta last = meta(status);
    last.disk_bytes = static_cast<std::int64_t>(to_text(result).size());  // the last file, which is still to come
    directory_.write_meta(std::move(last));
    directory_.write_summary(result);
    return {status, result};
  } catch (...) {
    directory_.refuse_if_removed();  // the reason of whatever else has failed
    // A full disk may refuse this too; the error that brought us here is the one to tell.
    try {
      directory_.write_meta(meta(RunStatus::failed));
    } catch (const Error&) {
    }
    throw;
  }
}

RunStatus TrainingRun::train() {
  while (true) {
    for (const RunEvent& event : steps_.interventions().begin_step(steps_.engine(), loop_.step))
      directory_.log_event(event);
    if (loop_.step % config_.train.eval_every == 0 || loop_.step == config_.train.steps) {
      // The last checkpoint is written after the last row: a run killed between it and its summary has that row
      // already.
      if (last_row_step_ != loop_.step && !evaluate()) return RunStatus::diverged;
      if (enough()) break;
    }
    if (loop_.step >= config_.train.steps) break;
    if (!train_one_step()) return RunStatus::diverged;
    observer_.on_step(loop_.step);
    const bool due = config_.run.checkpoint_every > 0 && loop_.step % config_.run.checkpoint_every == 0;
    const bool asked = stop_.load(std::memory_order_relaxed) || asked_to_stop_;
    const bool stopping = asked && loop_.step < config_.train.steps;
    if (due && config_.run.keep == Keep::all)
      checkpoint();
    else if (stopping || (due && has_much_to_lose()))
      checkpoint_for_now();
    if (stopping) return RunStatus::interrupted;
    if (around_moments_.wants(loop_.step)) {
      directory_.measure(loop_);
      around_moments_.hold({loop_, steps_.engine().export_state()});
    }
  }
  if (checkpoint_step_ != loop_.step && config_.run.keep == Keep::all) checkpoint();
  return RunStatus::finished;
}

bool TrainingRun::train_one_step() {
  asked_to_stop_ = lead_.announce(Order::step);
  const StepResult result = steps_.take(loop_.step);
  ++loop_.step;
  if (!std::isfinite(result.loss)) {
    diverge("train_loss", result.loss);
    return false;
  }
  loop_.loss_sum += result.loss;
  loop_.accuracy_sum += metric_.value(result.loss, result.accuracy);
  loop_.gradient_norm_sum += result.gradient_norm;
  ++loop_.sum_steps;
  return true;
}

bool TrainingRun::evaluate() {
  lead_.announce(Order::validate);
  const Evaluation evaluation = steps_.validate(loop_.step);
  if (!std::isfinite(evaluation.loss)) {
    diverge("val_loss", evaluation.loss);
    return false;
  }
  last_ = {evaluation.loss, metric_.value(evaluation.loss, evaluation.accuracy)};
  const MetricsRow row = metrics_row();
  write_row(row);
  add_row(row, metric_, detector_);
  note_rises(loop_.step, true);
  observer_.on_row(row, detector_.findings());
  return true;
}

MetricsRow TrainingRun::metrics_row() {
  MetricsRow row{.step = loop_.step, .numbers = {}};
  row.add("val_" + metric_.key(), last_.metric);
  row.add(kValidationLoss, last_.loss);
  if (!steps_.probes().empty()) lead_.announce(Order::probes);
  const std::vector<Evaluation> evaluations = steps_.evaluate_probes(loop_.step);
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const ProbeBatch& probe = steps_.probes()[i];
    const Evaluation& evaluation = evaluations[i];
    if (metric_.measure == Measure::score) {
      row.add("val_" + metric_.key() + "_" + probe.name, metric_.value(evaluation.loss, evaluation.accuracy));
      continue;
    }
    // Bits are told per unit of the text, which a probe need not be made of.
    row.add(fmt::format("{}_{}", kValidationLoss, probe.name), evaluation.loss);
    row.add("val_accuracy_" + probe.name, evaluation.accuracy);
  }
  if (loop_.sum_steps > 0) {
    const auto count = static_cast<double>(loop_.sum_steps);
    row.add("train_loss", loop_.loss_sum / count);
    row.add("train_" + metric_.key(), loop_.accuracy_sum / count);
    row.add("gradient_norm", loop_.gradient_norm_sum / count);
  }
  row.add("lr", learning_rate(config_.train, loop_.step));
  row.add("scale_multiple", scale_multiple(config_.scale, loop_.step, config_.train.steps));
  if (!diagnosis_.due(loop_.step)) return row;
  const bool pending = diagnosis_.wants_gradient(loop_.step);
  if (pending) {
    lead_.announce(Order::gradient);
    steps_.gradient(loop_.step);
  }
  const LookResult look = diagnosis_.look(steps_.engine(), steps_.batch(loop_.step), loop_.step, pending,
                                          steps_.interventions().frozen_at(loop_.step - 1));
  for (const auto& [name, value] : look.numbers) row.add(name, value);
  for (const LookFile& file : look.files) directory_.write_look(loop_.step, file.name, file.bytes);
  return row;
}

void TrainingRun::write_row(const MetricsRow& row) {
  directory_.log_metrics(row);
  last_row_step_ = loop_.step;
  loop_.loss_sum = loop_.accuracy_sum = loop_.gradient_norm_sum = 0;
  loop_.sum_steps = 0;
}

void TrainingRun::note_rises(std::int64_t step, bool log) {
  const auto event = [&](const RunEvent& what) {
    if (log) directory_.log_event(what);
  };
  for (const RiseNews& news : noted_.update(detector_.findings())) {
    for (const RunEvent::What& what : news.events) event({step, what});
    if (!news.confirmed) continue;
    for (const MomentStep& one : around_moments_.choose(*news.confirmed, step))
      event({step, MomentCheckpoint{one.step, enum_names(one.stage)[static_cast<std::size_t>(one.stage)]}});
    if (log) around_moments_.save();
  }
  if (detector_.moments().empty()) {
    confirmed_at_.reset();
  } else if (!confirmed_at_) {
    confirmed_at_ = step;
  }
}

bool TrainingRun::enough() const {
  return config_.train.until == Until::moment && confirmed_at_ &&
         loop_.step >= *confirmed_at_ + config_.train.after_moment;
}

void TrainingRun::diverge(const char* what, double value) {
  // The sign of a NaN is the processor's.
  const std::string text = std::isnan(value) ? "nan" : fmt::format("{}", value);
  directory_.log_event({loop_.step, Divergence{what, text}});
}

void TrainingRun::checkpoint() {
  directory_.log_event({loop_.step, CheckpointWritten{}});
  directory_.mark(loop_);
  write_checkpoint(directory_.path(), {loop_, steps_.engine().export_state()});
  checkpoint_step_ = loop_.step;
  remove_temporary();
  prune_checkpoints(directory_.path(), config_.run.keep_checkpoints, around_moments_.chosen());
}

void TrainingRun::checkpoint_for_now() {
  directory_.mark(loop_);
  LoopState loop = loop_;
  loop.temporary = true;
  write_checkpoint(directory_.path(), {loop, steps_.engine().export_state()});
  remove_temporary();
  temporary_step_ = loop_.step;
  last_saved_ = std::chrono::steady_clock::now();
}

bool TrainingRun::has_much_to_lose() const { return std::chrono::steady_clock::now() - last_saved_ >= most_to_lose_; }

void TrainingRun::remove_temporary() {
  if (temporary_step_ >= 0 && temporary_step_ != loop_.step && !around_moments_.chosen().contains(temporary_step_))
    remove_checkpoint(directory_.path(), temporary_step_);
  temporary_step_ = -1;
}

RunMeta TrainingRun::meta(RunStatus status) const {
  RunMeta meta;
  meta.status = status;
  meta.engine = steps_.engine().name();
  meta.instructions = steps_.engine().instructions();
  meta.threads = config_.run.threads;
  meta.processes = lead_.processes();
  meta.device = config_.run.device;
  meta.updates_done = loop_.step;
  meta.seconds_of_last_session = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  meta.why_not_fused = steps_.why_not_fused();
  if (const auto needs = run_memory(config_, steps_.task()); needs && steps_.engine().name() == "fused")
    meta.memory_bytes = static_cast<std::int64_t>(needs->total());
  return meta;
}

RunSummary TrainingRun::summary(RunStatus status) {
  RunSummary summary;
  summary.status = status;
  summary.steps = loop_.step;
  summary.seed = config_.run.seed;
  summary.task = config_.task.name;
  summary.model = config_.model.name;
  summary.attention = config_.attention.name;
  summary.parameters = total_size(steps_.engine().parameters());
  summary.metric = metric_.key();
  summary.task_plateau = metric_.plateau;
  summary.final_validation_metric = if_finite(last_.metric);
  summary.final_validation_loss = if_finite(last_.loss);
  detector_.finish();
  sum_up(detector_.findings(), metric_, summary);
  summary.diagnostics = diagnosis_.seen();
  return summary;
}

}  // namespace

RunParts make_parts(const RunConfig& config) {
  RunParts parts;
  parts.task = Registry<Task>::instance().make(config.task.name, config.task.options);
  refuse_beyond_machine(config, *parts.task);
  parts.engine = make_engine(config.run.engine, engine_config(config, parts.task->shape()));
  return parts;
}

RunParts make_parts_of_rank(const RunConfig& config, Ranks& ranks) {
  RunParts parts;
  parts.task = Registry<Task>::instance().make(config.task.name, config.task.options);
  EngineConfig engine = engine_config(config, parts.task->shape());
  engine.ranks = &ranks;
  parts.engine = make_engine(config.run.engine, engine);
  return parts;
}

RunOutcome run_training(const RunConfig& config, const RunRequest& request, RunObserver& observer,
                        const std::atomic<bool>& stop, const MakeParts& make) {
  if (request.resume && !request.resume_step) {
    if (const auto summary = read_summary(request.directory)) {
      refuse_other_config(request.directory, config);
      // What is left of a process killed between the summary and what it writes after it.
      if (!DirectoryLock::is_held(request.directory) && !DirectoryClaim::is_foreign(request.directory)) {
        remove_leftovers(request.directory);
        std::error_code ignored;
        fs::remove(request.directory / kClaimFile, ignored);
      }
      if (request.ranks != nullptr) {
        Lead(request.ranks).share_config({});
        request.ranks->leave();
      }
      return {summary->status, summary};
    }
  }
  if (request.ranks == nullptr) return TrainingRun(config, request, make(config), make, observer, stop).execute();
  Lead(request.ranks).share_config(to_toml(config));
  return TrainingRun(config, request, make_parts_of_rank(config, *request.ranks), make, observer, stop).execute();
}

}  // namespace eureka
