#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "io/crc32c.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr const char* kFiles[] = {"model.safetensors", "optimizer.safetensors", "state.json"};
constexpr std::string_view kPrefix = "step-";

fs::path checkpoint_directory(const fs::path& run_directory, std::int64_t step) {
  return run_directory / "checkpoints" / fmt::format("{}{}", kPrefix, step);
}

// Sign and payload of a NaN are the processor's; in a checkpoint there is one NaN.
std::vector<float> with_one_nan(std::vector<float> values) {
  for (float& value : values)
    if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
  return values;
}

std::string tensor_bytes(const std::vector<StateTensor>& tensors, std::int64_t step) {
  TensorFile file;
  file.metadata["step"] = fmt::format("{}", step);
  for (const StateTensor& tensor : tensors)
    file.add(make_tensor<float>(tensor.name, tensor.shape, with_one_nan(tensor.values)));
  return write_safetensors(file);
}

std::vector<StateTensor> read_tensors(std::string_view bytes, const fs::path& path) {
  const TensorFile file = parse_safetensors(bytes, path.string());
  std::vector<StateTensor> tensors;
  for (const auto& [name, tensor] : file.tensors())
    tensors.push_back({name, tensor.shape, tensor_values<float>(tensor)});
  return tensors;
}

Json parse_own_json(const std::string& text, const fs::path& path) {
  try {
    return Json::parse(text);
  } catch (const JsonError&) {
    throw Error(ErrorKind::input, "the checkpoint is damaged: not JSON", path.string());
  }
}

Checkpoint read_unguarded(const fs::path& directory) {
  const Json done = parse_own_json(read_file(directory / "DONE", 1 << 20), directory / "DONE");
  Checkpoint checkpoint;
  for (const char* name : kFiles) {
    const fs::path path = directory / name;
    const std::string bytes = read_file(path);
    try {
      // The parser speaks first: it can name the tensor that is cut off.
      if (name == std::string_view("model.safetensors")) checkpoint.engine.model = read_tensors(bytes, path);
      if (name == std::string_view("optimizer.safetensors")) checkpoint.engine.optimizer = read_tensors(bytes, path);
      if (done.at(name).at("bytes") != bytes.size() || done.at(name).at("crc32c") != crc32c(bytes))
        throw Error(ErrorKind::input, "the checkpoint is damaged: length or checksum is not what was written",
                    path.string());
      if (name == std::string_view("state.json")) checkpoint.loop = parse_loop_state(bytes, path.string());
    } catch (const JsonError&) {
      throw Error(ErrorKind::input, "the checkpoint is damaged: entries are missing", path.string());
    }
  }
  return checkpoint;
}

std::string repair_hint(const fs::path& run_directory, std::int64_t damaged) {
  std::vector<std::int64_t> steps = list_checkpoints(run_directory);
  std::reverse(steps.begin(), steps.end());
  for (const std::int64_t step : steps) {
    if (step >= damaged) continue;
    try {
      read_unguarded(checkpoint_directory(run_directory, step));
      return fmt::format("the checkpoint is damaged; step-{} is intact: resume from it with --resume --step {}", step,
                         step);
    } catch (const Error&) {
      continue;
    }
  }
  return "the checkpoint is damaged and no earlier one is intact: start again with --resume --step 0";
}

// As it says itself; nothing of one that is damaged or from a later program.
LoopState state_of(const fs::path& directory) {
  try {
    return parse_loop_state(read_file(directory / "state.json", 1 << 20), {});
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void write_checkpoint(const fs::path& run_directory, const Checkpoint& checkpoint) {
  const fs::path target = checkpoint_directory(run_directory, checkpoint.loop.step);
  const fs::path temporary = target.parent_path() / fmt::format(".{}.tmp", target.filename().string());
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  try {
    fs::create_directory(temporary);
    const std::string contents[] = {tensor_bytes(checkpoint.engine.model, checkpoint.loop.step),
                                    tensor_bytes(checkpoint.engine.optimizer, checkpoint.loop.step),
                                    to_text(checkpoint.loop)};
    Json done;
    for (std::size_t i = 0; i < std::size(kFiles); ++i) {
      write_and_sync(temporary / kFiles[i], contents[i]);
      done[kFiles[i]] = {{"bytes", contents[i].size()}, {"crc32c", crc32c(contents[i])}};
    }
    write_and_sync(temporary / "DONE", done.dump(1) + "\n");
    sync_directory(temporary);
    if (fs::exists(target)) remove_checkpoint(run_directory, checkpoint.loop.step);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(temporary, ignored);
    throw Error(ErrorKind::failed, fmt::format("cannot write the checkpoint: {}", error.code().message()),
                target.string());
  } catch (const Error&) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  sync_directory(target.parent_path());
}

std::vector<std::int64_t> list_checkpoints(const fs::path& run_directory) {
  std::vector<std::int64_t> steps;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(run_directory / "checkpoints", failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !fs::exists(entry.path() / "DONE", failure)) continue;
    std::int64_t step = 0;
    const auto [end, problem] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
    if (problem == std::errc() && end == name.data() + name.size()) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Checkpoint read_checkpoint(const fs::path& run_directory, std::int64_t step) {
  const fs::path directory = checkpoint_directory(run_directory, step);
  const std::vector<std::int64_t> steps = list_checkpoints(run_directory);
  if (std::find(steps.begin(), steps.end(), step) == steps.end())
    throw Error(ErrorKind::input, fmt::format("there is no checkpoint of step {}", step), run_directory.string(),
                steps.empty() ? "this run has none yet" : fmt::format("there are: {}", fmt::join(steps, ", ")));
  try {
    return read_unguarded(directory);
  } catch (const NewerFormat&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.kind(), error.what(), error.where(), repair_hint(run_directory, step));
  }
}

void remove_checkpoint(const fs::path& run_directory, std::int64_t step) {
  const fs::path directory = checkpoint_directory(run_directory, step);
  const fs::path removed = directory.parent_path() / fmt::format(".{}.removed.tmp", directory.filename().string());
  std::error_code ignored, failure;
  fs::remove_all(removed, ignored);
  // Gone at once for whoever lists checkpoints; a crash before the files are gone leaves them to prune_checkpoints.
  fs::rename(directory, removed, failure);
  if (failure)
    throw Error(ErrorKind::failed, fmt::format("cannot remove the checkpoint: {}", failure.message()),
                directory.string());
  fs::remove_all(removed, ignored);
}

void prune_checkpoints(const fs::path& run_directory, std::int64_t keep, const std::set<std::int64_t>& chosen) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run_directory / "checkpoints", ignored))
    if (entry.path().extension() == ".tmp") fs::remove_all(entry.path(), ignored);
  if (keep <= 0) return;
  std::vector<std::int64_t> steps = list_checkpoints(run_directory);
  std::erase_if(steps, [&](std::int64_t step) {
    return chosen.contains(step) || state_of(checkpoint_directory(run_directory, step)).around_moment;
  });
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < steps.size(); ++i)
    remove_checkpoint(run_directory, steps[i]);
}

bool has_lasting_checkpoint(const fs::path& run_directory, std::int64_t step) {
  const fs::path directory = checkpoint_directory(run_directory, step);
  return fs::exists(directory / "DONE") && !state_of(directory).temporary;
}

void remove_checkpoints_after(const fs::path& run_directory, std::int64_t step) {
  std::vector<std::int64_t> steps = list_checkpoints(run_directory);
  if (steps.empty() || steps.back() <= step) return;
  for (; !steps.empty() && steps.back() > step; steps.pop_back()) remove_checkpoint(run_directory, steps.back());
  sync_directory(run_directory / "checkpoints");
}

void remove_temporary_checkpoints(const fs::path& run_directory, std::int64_t except) {
  for (const std::int64_t step : list_checkpoints(run_directory))
    if (step != except && state_of(checkpoint_directory(run_directory, step)).temporary)
      remove_checkpoint(run_directory, step);
}

}  // namespace eureka
