#include "train/transplant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "io/crc32c.h"
#include "train/checkpoint.h"
#include "train/parameter_choice.h"

namespace eureka {
namespace {

constexpr std::string_view kSeed = "{seed}";

std::string with_seed(std::string text, std::int64_t seed) {
  for (std::size_t at = 0; (at = text.find(kSeed, at)) != std::string::npos;)
    text.replace(at, kSeed.size(), fmt::format("{}", seed));
  return text;
}

std::int64_t step_of(const Transplanting& options, const std::string& run) {
  const std::vector<std::int64_t> steps = list_checkpoints(run);
  if (steps.empty())
    throw Error(ErrorKind::config, "'intervene.transplant.run' has no checkpoint", run,
                fs::exists(run) ? "it is not the directory of a run, or the run has saved nothing yet"
                                : "there is no such directory");
  if (options.step == 0) return steps.back();
  if (std::find(steps.begin(), steps.end(), options.step) == steps.end())
    throw Error(ErrorKind::config,
                fmt::format("'intervene.transplant.step': there is no checkpoint of step {}", options.step), run,
                fmt::format("there are: {}", fmt::join(steps, ", ")));
  return options.step;
}

StateTensor find(const std::vector<StateTensor>& saved, const ParameterSpec& spec, const std::string& run) {
  const auto found = std::find_if(saved.begin(), saved.end(), [&](const auto& one) { return one.name == spec.name; });
  if (found == saved.end())
    throw Error(ErrorKind::config, fmt::format("'intervene.transplant': that run's model has no '{}'", spec.name), run,
                "only what both models have can be transplanted");
  if (found->shape != spec.shape)
    throw Error(ErrorKind::config,
                fmt::format("'intervene.transplant': '{}' is {} there and {} here", spec.name,
                            fmt::join(found->shape, " x "), fmt::join(spec.shape, " x ")),
                run, "values go over between parameters of the same shape");
  return *found;
}

std::uint32_t checksum_of(const std::vector<StateTensor>& tensors) {
  std::uint32_t sum = 0;
  for (const StateTensor& tensor : tensors) {
    sum = crc32c(tensor.name, sum);
    sum = crc32c({reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float)}, sum);
  }
  return sum;
}

}  // namespace

Transplant read_transplant(const Transplanting& options, std::int64_t seed,
                           const std::vector<ParameterSpec>& parameters) {
  const std::string run = with_seed(options.run, seed);
  const std::int64_t step = step_of(options, run);
  const Checkpoint saved = read_checkpoint(run, step);
  Transplant transplant;
  for (const std::size_t i : chosen_parameters(parameters, options.groups, options.layers, "transplant"))
    transplant.tensors.push_back(find(saved.engine.model, parameters[i], run));
  transplant.source = {run, step, checksum_of(transplant.tensors), options.at};
  return transplant;
}

}  // namespace eureka
