#include "train/branch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/directory_lock.h"
#include "train/interventions.h"
#include "train/records/branch_origin.h"

namespace eureka {
namespace {

BranchOrigin origin_of(const BranchRequest& request) {
  BranchOrigin origin{fs::weakly_canonical(request.run).string(), request.step, {}, {}};
  for (const auto& [key, entry] : request.change) origin.change.emplace_back(key, to_toml(entry.value));
  return origin;
}

struct MergedTensors {
  std::vector<StateTensor> tensors;
  std::vector<std::string> fresh;  // not in the checkpoint
};

// The tensors a fresh model has, with the values of the checkpoint where it has them.
MergedTensors merged(std::vector<StateTensor> fresh, const std::vector<StateTensor>& saved, const fs::path& run) {
  std::map<std::string, const StateTensor*> by_name;
  for (const StateTensor& tensor : saved) by_name[tensor.name] = &tensor;
  MergedTensors result;
  for (StateTensor& tensor : fresh) {
    const auto found = by_name.find(tensor.name);
    if (found == by_name.end()) {
      result.fresh.push_back(tensor.name);
    } else if (found->second->shape != tensor.shape) {
      throw Error(ErrorKind::config,
                  fmt::format("the change makes '{}' {} instead of {}", tensor.name, fmt::join(tensor.shape, " x "),
                              fmt::join(found->second->shape, " x ")),
                  run.string(), "a branch keeps the shape of the model: begin a new run with eureka train");
    } else {
      tensor.values = found->second->values;
    }
    result.tensors.push_back(std::move(tensor));
  }
  return result;
}

// Also when both were moved together since: then the run still lies at the same place beside its branch.
bool is_same_run(const fs::path& before, const BranchRequest& request) {
  if (before == parse_origin(to_text(origin_of(request)), {}).run) return true;
  const fs::path now = fs::weakly_canonical(request.run);
  fs::path beside;
  for (const fs::path& part : now.lexically_relative(fs::weakly_canonical(request.out)))
    if (part != "..") beside /= part;
  const auto parts = std::distance(beside.begin(), beside.end());
  return parts > 0 && parts < std::distance(before.begin(), before.end()) &&
         std::equal(beside.begin(), beside.end(), std::prev(before.end(), parts));
}

// The same step of the same run, continued to the same config: however the change was put, then or now.
void refuse_other_branch(const BranchRequest& request, const RunConfig& config) {
  const std::optional<BranchOrigin> origin = read_origin(request.out);
  if (!origin || !is_same_run(origin->run, request) || origin->step != request.step)
    throw Error(ErrorKind::output, "holds another run than this branch", request.out.string(),
                "choose another place with --out DIR");
  refuse_other_config(request.out, config);
}

// Throws when what is there is not this branch, or is not to be continued.
bool is_there(const BranchRequest& request, const RunConfig& config) {
  if (!fs::exists(request.out / "config.toml")) return false;
  if (!request.resume)
    throw Error(ErrorKind::output, "already holds a run", request.out.string(),
                fmt::format("continue it with eureka train --out {} --resume, or choose another place with --out DIR",
                            request.out.string()));
  refuse_other_branch(request, config);
  return true;
}

}  // namespace

RunConfig branch_config(const BranchRequest& request, const Catalog& catalog) {
  const ConfigEntries before = to_entries(read_run_config(request.run, catalog), request.run.string());
  const RunConfig config = resolve_config(merge_entries(before, request.change), catalog);
  if (config.train.steps <= request.step)
    throw Error(ErrorKind::config,
                fmt::format("a run of {} steps has nothing left to do at step {}", config.train.steps, request.step),
                request.run.string(), "branch from an earlier checkpoint, or make it longer with --set train.steps=N");
  refuse_past_interventions(request.change, config, request.step);
  return config;
}

Branch create_branch(const BranchRequest& request, const Catalog& catalog, const MakeParts& make) {
  Branch branch{branch_config(request, catalog), {}};
  if (is_there(request, branch.config)) return branch;
  const Checkpoint saved = read_checkpoint(request.run, request.step);
  const RunParts parts = make(branch.config);
  Interventions(branch.config, parts.engine.engine->parameters()).load(request.step, {});
  const EngineState fresh = parts.engine.engine->export_state();
  MergedTensors model = merged(fresh.model, saved.engine.model, request.run);
  branch.new_parameters = std::move(model.fresh);
  Checkpoint start{saved.loop,
                   {std::move(model.tensors), merged(fresh.optimizer, saved.engine.optimizer, request.run).tensors}};
  start.loop.temporary = false;

  make_directories(request.out / "checkpoints");
  const DirectoryLock lock(request.out);
  // Another process may have made it, and trained it, while this one was reading.
  if (is_there(request, branch.config)) return branch;
  copy_past(request.run, start.loop, request.out);
  write_checkpoint(request.out, start);
  atomic_write(request.out / "origin.json", to_text(origin_of(request)));
  // Last: a directory without a config holds no run yet, so a branch killed before this line is made again.
  atomic_write(request.out / "config.toml", to_toml(branch.config));
  return branch;
}

}  // namespace eureka
