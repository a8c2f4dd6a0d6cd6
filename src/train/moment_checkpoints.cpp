#include "train/moment_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "train/records/branch_origin.h"

namespace eureka {
namespace {

constexpr double kWidthsBefore = 3;
constexpr std::size_t kMostHeld = 64;
constexpr std::size_t kMostBytesHeld = std::size_t{256} << 20;

std::size_t bytes_of(const Checkpoint& state) {
  std::size_t numbers = 0;
  for (const auto* tensors : {&state.engine.model, &state.engine.optimizer})
    for (const StateTensor& tensor : *tensors) numbers += tensor.values.size();
  return numbers * sizeof(float);
}

// States of so many bytes.
std::size_t most_held(std::size_t bytes) {
  return std::clamp<std::size_t>(kMostBytesHeld / std::max<std::size_t>(1, bytes), 1, kMostHeld);
}

// The newest intact one that is not later than `step`.
std::optional<Checkpoint> last_checkpoint(const fs::path& run, std::int64_t step) {
  std::vector<std::int64_t> steps = list_checkpoints(run);
  std::reverse(steps.begin(), steps.end());
  for (const std::int64_t one : steps) {
    if (one > step) continue;
    try {
      return read_checkpoint(run, one);
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

// What the log of a run tells of values it took from elsewhere.
std::vector<TransplantSource> sources_told(const fs::path& run) {
  std::vector<TransplantSource> sources;
  for (const RunEvent& event : read_events(run))
    if (const auto* source = std::get_if<TransplantSource>(&event.what)) sources.push_back(*source);
  return sources;
}

// Ends a run behind the update that leads to `step`.
struct StopAt final : RunObserver {
  explicit StopAt(std::int64_t last) : step(last) {}
  void on_step(std::int64_t updates_done) override { stop = updates_done >= step; }

  std::int64_t step;
  std::atomic<bool> stop{false};
};

}  // namespace

std::vector<MomentStep> steps_around(const Moment& moment, std::int64_t spacing, std::int64_t confirmed) {
  const auto unit = static_cast<double>(spacing);
  const double width = std::max(moment.rise_end - moment.rise_start, unit);
  const double on_plateau = std::max(moment.plateau.start, moment.rise_start - kWidthsBefore * width);
  const std::int64_t last = (confirmed - 1) / spacing;
  const std::pair<double, MomentStage> wanted[] = {{std::floor(on_plateau / unit), MomentStage::plateau},
                                                   {std::floor(moment.rise_start / unit), MomentStage::before},
                                                   {std::round(moment.step / unit), MomentStage::half_way},
                                                   {std::ceil(moment.rise_end / unit), MomentStage::after}};
  std::vector<MomentStep> steps;
  for (const auto& [multiple, stage] : wanted) {
    const std::int64_t step = std::min(static_cast<std::int64_t>(multiple), last) * spacing;
    if (step > (steps.empty() ? 0 : steps.back().step)) steps.push_back({step, stage});
  }
  return steps;
}

MomentCheckpoints::MomentCheckpoints(const RunConfig& config, fs::path run_directory, MakeParts make, bool save)
    : config_(config),
      run_(std::move(run_directory)),
      make_(std::move(make)),
      spacing_(config.run.around_moment),
      saves_(save) {
  if (spacing_ == 0) return;
  // Where a branch begins is all it has to go back to.
  if (const auto origin = read_origin(run_)) chosen_.insert(beginning_ = origin->step);
}

void MomentCheckpoints::hold(Checkpoint state) {
  held_.push_back(std::move(state));
  while (held_.size() > most_held(bytes_of(held_.back()))) held_.pop_front();
}

std::size_t MomentCheckpoints::most_bytes_held(std::size_t state, std::int64_t states) {
  return state * std::min(most_held(state), static_cast<std::size_t>(states));
}

std::vector<MomentStep> MomentCheckpoints::choose(const Moment& moment, std::int64_t step) {
  if (spacing_ == 0) return {};
  chosen_last_ = steps_around(moment, spacing_, step);
  for (const MomentStep& one : chosen_last_) chosen_.insert(one.step);
  return chosen_last_;
}

void MomentCheckpoints::save() {
  if (!saves_) return;
  for (const MomentStep& one : chosen_last_) {
    if (one.step < beginning_ || has_lasting_checkpoint(run_, one.step)) continue;
    const Checkpoint* state = held(one.step);
    write(state != nullptr ? *state : trained_again(one.step));
  }
}

const Checkpoint* MomentCheckpoints::held(std::int64_t step) const {
  for (const Checkpoint& state : held_)
    if (state.loop.step == step) return &state;
  return nullptr;
}

void MomentCheckpoints::write(Checkpoint state) const {
  const std::int64_t every = config_.run.checkpoint_every;
  state.loop.temporary = false;
  // One that the run makes anyway, and may have pruned since, is as it was.
  state.loop.around_moment = every == 0 || state.loop.step % every != 0;
  write_checkpoint(run_, state);
}

Checkpoint MomentCheckpoints::trained_again(std::int64_t step) const {
  std::optional<Checkpoint> from = last_checkpoint(run_, step);
  if (from && from->loop.step == step) return *from;
  if (!from && beginning_ > 0)
    throw Error(ErrorKind::input, fmt::format("the checkpoint of step {} is missing or damaged", beginning_),
                run_.string(), "it is where this branch begins: make the branch again with --out DIR");
  const fs::path place = run_ / "checkpoints" / ".around-moment.tmp";
  fs::remove_all(place);
  make_directories(place / "checkpoints");
  if (from) {
    copy_past(run_, from->loop, place);
    from->loop.temporary = false;
    write_checkpoint(place, *from);
  }
  StopAt observer(step);
  run_training(config_, {.directory = place, .resume = true, .resume_step = {}, .saves_moments = false}, observer,
               observer.stop, make_);
  if (const auto sources = sources_told(place), before = sources_told(run_);
      !std::equal(sources.begin(), sources.end(), before.begin(),
                  before.begin() + static_cast<std::ptrdiff_t>(std::min(sources.size(), before.size()))))
    throw Error(ErrorKind::input, "what was transplanted has changed since", run_.string(),
                "put the checkpoint back, or begin again with --resume --step 0 or another --out DIR");
  const Checkpoint state = read_checkpoint(place, step);
  fs::remove_all(place);
  return state;
}

}  // namespace eureka
