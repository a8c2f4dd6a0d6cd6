// Checkpoints around a moment: on the plateau, just before the rise, half-way up and after it, for expensive looks
// afterwards. They are known only when the moment is confirmed, so recent states are held in memory till then.
//
//   MomentCheckpoints moments(config, run_directory, make);
//   if (moments.wants(step)) moments.hold({loop, engine.export_state()});
//   for (const MomentStep& one : moments.choose(moment, step)) ...         their events
//   moments.save();                                                        and they
//
// Ensures: which there are, and their bytes, are a function of (config, seed), however often the run was killed. What
// is held is only a short cut: a state that is not (the run was resumed since, or too many came after it) is trained
// again from the checkpoint before it, to the same bits. A branch has those that lie behind its beginning.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "stats/detector.h"
#include "train/checkpoint.h"
#include "train/run.h"

namespace eureka {

enum class MomentStage { plateau, before, half_way, after };
constexpr auto enum_names(MomentStage) { return std::array{"plateau", "before", "half-way", "after"}; }

struct MomentStep {
  std::int64_t step = 0;
  MomentStage stage = MomentStage::plateau;

  bool operator==(const MomentStep&) const = default;
};

// Multiples of `spacing`, ascending, of a moment that was confirmed by the evaluation at `confirmed`, and before it:
// three widths of the rise before it, or at the beginning of the plateau if that is shorter; the last one before the
// rise; the nearest to its middle; the first after it. Stages that fall together count once, step 0 not at all.
std::vector<MomentStep> steps_around(const Moment& moment, std::int64_t spacing, std::int64_t confirmed);

class MomentCheckpoints {
 public:
  // `save`: false for a run that is only repeated.
  MomentCheckpoints(const RunConfig& config, fs::path run_directory, MakeParts make, bool save);

  // Whether the state of this step may be asked for.
  bool wants(std::int64_t step) const { return spacing_ > 0 && step % spacing_ == 0; }
  // Called for every step that is wanted, with what a checkpoint of it would hold.
  void hold(Checkpoint state);

  // What is held at most, of so many states of so many bytes each.
  static std::size_t most_bytes_held(std::size_t state, std::int64_t states);

  // Those around a moment that was confirmed by the row of `step`. Never pruned from now on.
  std::vector<MomentStep> choose(const Moment& moment, std::int64_t step);
  const std::set<std::int64_t>& chosen() const { return chosen_; }

  // Makes those that were chosen last, where they are not there.
  void save();

 private:
  const Checkpoint* held(std::int64_t step) const;
  void write(Checkpoint state) const;
  // By repeating the run from its last checkpoint before it.
  Checkpoint trained_again(std::int64_t step) const;

  const RunConfig& config_;
  fs::path run_;
  MakeParts make_;
  std::int64_t spacing_;
  bool saves_;
  std::int64_t beginning_ = 0;  // of a branch
  std::deque<Checkpoint> held_;
  std::vector<MomentStep> chosen_last_;
  std::set<std::int64_t> chosen_;
};

}  // namespace eureka
