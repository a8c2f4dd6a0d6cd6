#include "train/edited_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/directory_lock.h"
#include "base/error.h"
#include "base/suggest.h"
#include "train/checkpoint.h"
#include "train/records/branch_origin.h"
#include "train/run_directory.h"

namespace eureka {
namespace {

[[noreturn]] void refuse(const fs::path& run, const std::string& what, const std::string& hint = {}) {
  throw Error(ErrorKind::input, what, run.string(), hint);
}

// The values of `given` in place of those of `saved`, each under its name.
void put_in_place(const std::vector<StateTensor>& given, std::vector<StateTensor>& saved, const fs::path& run) {
  std::map<std::string, StateTensor*> by_name;
  std::vector<std::string> names;
  for (StateTensor& tensor : saved) {
    by_name[tensor.name] = &tensor;
    names.push_back(tensor.name);
  }
  for (const StateTensor& tensor : given) {
    const auto found = by_name.find(tensor.name);
    if (found == by_name.end()) {
      const std::string near = nearest_name(tensor.name, names);
      refuse(run, fmt::format("has no tensor '{}' in its checkpoints", tensor.name),
             near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    if (found->second->shape != tensor.shape)
      refuse(run, fmt::format("'{}' is {} in this run, not {}", tensor.name, fmt::join(found->second->shape, " x "),
                              fmt::join(tensor.shape, " x ")));
    if (!std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }))
      refuse(run, fmt::format("'{}' holds numbers that are not finite", tensor.name));
    found->second->values = tensor.values;
    by_name.erase(found);
  }
  if (!by_name.empty())
    refuse(run, fmt::format("the tensor '{}' of its checkpoints was not given", by_name.begin()->first));
}

void refuse_step(const RunEdit& edit, const RunConfig& config) {
  if (edit.step < edit.from)
    refuse(edit.run, fmt::format("what goes on from step {} cannot be at step {}", edit.from, edit.step));
  if (edit.step > config.train.steps)
    refuse(edit.run, fmt::format("step {} is beyond the end of this run at {}", edit.step, config.train.steps),
           "make it longer first: eureka branch RUN@STEP --set train.steps=N");
}

}  // namespace

void edit_run(const RunEdit& edit, const Catalog& catalog) {
  const RunConfig config = read_run_config(edit.run, catalog);
  refuse_step(edit, config);
  if (fs::exists(edit.out / "config.toml"))
    throw Error(ErrorKind::output, "already holds a run", edit.out.string(), "choose another place");
  Checkpoint start = read_checkpoint(edit.run, edit.from);
  put_in_place(edit.state.model, start.engine.model, edit.run);
  if (!edit.state.optimizer.empty()) put_in_place(edit.state.optimizer, start.engine.optimizer, edit.run);
  const LoopState past = start.loop;
  start.loop.temporary = false;
  start.loop.step = edit.step;
  if (edit.step != edit.from) {
    // The next row of metrics tells of the steps that are done here.
    start.loop.loss_sum = start.loop.accuracy_sum = start.loop.gradient_norm_sum = 0;
    start.loop.sum_steps = 0;
  }

  make_directories(edit.out / "checkpoints");
  const DirectoryLock lock(edit.out);
  copy_past(edit.run, past, edit.out);
  write_checkpoint(edit.out, start);
  const BranchOrigin origin{fs::weakly_canonical(edit.run).string(), edit.step, {}, edit.by};
  atomic_write(edit.out / "origin.json", to_text(origin));
  // Last: a directory without a config holds no run yet.
  atomic_write(edit.out / "config.toml", to_toml(config));
}

}  // namespace eureka
