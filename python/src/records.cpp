// Runs and studies as their directories hold them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <map>

#include "arrays.h"
#include "base/embedded.h"
#include "bindings.h"
#include "lab/study_record.h"
#include "train/checkpoint.h"
#include "train/edited_run.h"
#include "train/records/metrics_row.h"
#include "train/records/run_event.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"
#include "train/run.h"
#include "train/run_data.h"

namespace eureka::python {
namespace {

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

// Column by column, NaN where a row has no such number.
nb::tuple metrics(const std::string& directory) {
  std::vector<std::int64_t> steps;
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> columns;
  {
    nb::gil_scoped_release release;
    const std::vector<MetricsRow> rows = read_metrics(directory);
    for (const MetricsRow& row : rows) {
      for (const auto& [name, value] : row.numbers) {
        auto [column, is_new] = columns.try_emplace(name);
        if (is_new) order.push_back(name);
        column->second.resize(steps.size(), std::numeric_limits<double>::quiet_NaN());
        column->second.push_back(value);
      }
      steps.push_back(row.step);
    }
    for (auto& [name, values] : columns) values.resize(steps.size(), std::numeric_limits<double>::quiet_NaN());
  }
  nb::dict arrays;
  for (const std::string& name : order) arrays[name.c_str()] = array_of(std::move(columns[name]));
  return nb::make_tuple(array_of(std::move(steps)), arrays);
}

nb::dict tensors(const std::string& directory, std::int64_t step) {
  Checkpoint checkpoint;
  {
    nb::gil_scoped_release release;
    checkpoint = read_checkpoint(directory, step);
  }
  nb::dict all;
  for (StateTensor& tensor : checkpoint.engine.model) {
    std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    all[tensor.name.c_str()] = array_of(std::move(tensor.values), std::move(shape));
  }
  return all;
}

Json json_of(const OptionValue& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

// Flat: "model.width", "attention.rule".
std::string config(const std::string& directory) {
  Json all = Json::object();
  for (const auto& [key, value] : flat_entries(read_run_config(directory, catalog()))) all[key] = json_of(value);
  return all.dump();
}

// Inputs of the validation samples, and what the run's engine says of them at a checkpoint.
nb::tuple predictions(const std::string& directory, std::int64_t step, std::int64_t samples) {
  Batch batch;
  std::vector<float> predicted;
  TaskShape shape;
  {
    nb::gil_scoped_release release;
    RunConfig config = read_run_config(directory, catalog());
    config.train.validation_samples = std::min(samples, config.train.validation_samples);
    const RunParts parts = make_parts(config);
    shape = parts.task->shape();
    parts.engine.engine->import_state(read_checkpoint(directory, step).engine);
    batch = draw_validation_batch(*parts.task, config);
    parts.engine.engine->predict(batch, step, predicted);
  }
  const auto count = static_cast<std::size_t>(batch.samples), tokens = static_cast<std::size_t>(shape.tokens);
  const std::size_t columns = predicted.size() / count;
  nb::object inputs;
  if (shape.input() == InputKind::ids)
    inputs = nb::cast(array_of(std::vector<std::int64_t>(batch.ids.begin(), batch.ids.end()), {count, tokens}));
  else
    inputs = nb::cast(array_of(std::vector<float>(batch.inputs.begin(), batch.inputs.end()),
                               {count, tokens, batch.inputs.size() / count / tokens}));
  return nb::make_tuple(inputs, array_of(std::move(predicted), {count, columns}));
}

// The array of each tensor stays where it is until its numbers are in the checkpoint.
using Tensor = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Tensors = std::map<std::string, Tensor>;

std::vector<StateTensor> state_of(const Tensors& tensors) {
  std::vector<StateTensor> state;
  for (const auto& [name, array] : tensors) {
    StateTensor tensor{name, {}, std::vector<float>(array.data(), array.data() + array.size())};
    for (std::size_t i = 0; i < array.ndim(); ++i) tensor.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    state.push_back(std::move(tensor));
  }
  return state;
}

void edit(const std::string& run, std::int64_t from, std::int64_t step, const std::string& out, const Tensors& model,
          const Tensors& optimizer, const std::string& by) {
  const RunEdit wanted{run, from, step, out, {state_of(model), state_of(optimizer)}, by};
  nb::gil_scoped_release release;
  edit_run(wanted, catalog());
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string study(const std::string& directory) {
  const StudyRecord record = read_study_record(directory, catalog());
  Json points = Json::array(), arms = Json::array(), trials = Json::array();
  for (const RecordedPoint& point : record.points)
    points.push_back(
        {{"name", point.name}, {"budget", point.budget}, {"metric", point.metric}, {"target", number(point.target)}});
  for (const RecordedArm& arm : record.arms) {
    Json survival = Json::array();
    for (const RecordedSurvival& step : arm.survival)
      survival.push_back({{"step", step.step}, {"share", step.share}, {"low", step.low}, {"high", step.high}});
    arms.push_back({{"name", arm.name},
                    {"point", arm.point},
                    {"verdict_kind", arm.verdict_kind},
                    {"verdict", arm.verdict},
                    {"survival", survival},
                    {"values", arm.values}});
  }
  for (const RecordedTrial& trial : record.trials)
    trials.push_back({{"arm", trial.arm},
                      {"point", trial.point},
                      {"seed", trial.seed},
                      {"status", trial.status},
                      {"steps", trial.steps},
                      {"moment", number(trial.moment)},
                      {"steps_to_target", number(trial.steps_to_target)},
                      {"final", number(trial.final_value)},
                      {"directory", trial.directory.string()}});
  return Json({{"name", record.name},
               {"question", record.question},
               {"baseline", record.baseline},
               {"planned", record.planned},
               {"points", points},
               {"arms", arms},
               {"trials", trials}})
      .dump();
}

}  // namespace

void bind_records(nb::module_& module) {
  module.def("metrics", &metrics, nb::arg("directory"));
  module.def(
      "events",
      [](const std::string& directory) {
        std::vector<std::string> lines;
        for (const RunEvent& event : read_events(directory)) lines.push_back(to_text(event));
        return lines;
      },
      nb::arg("directory"));
  module.def(
      "summary",
      [](const std::string& directory) {
        const std::optional<RunSummary> summary = read_summary(directory);
        return summary ? std::optional(to_text(*summary)) : std::nullopt;
      },
      nb::arg("directory"));
  module.def(
      "meta", [](const std::string& directory) { return to_text(read_meta(directory)); }, nb::arg("directory"));
  module.def(
      "checkpoints", [](const std::string& directory) { return list_checkpoints(directory); }, nb::arg("directory"));
  module.def("tensors", &tensors, nb::arg("directory"), nb::arg("step"));
  module.def("config", &config, nb::arg("directory"));
  module.def("predictions", &predictions, nb::arg("directory"), nb::arg("step"), nb::arg("samples"));
  module.def("edit_run", &edit, nb::arg("run"), nb::arg("from_step"), nb::arg("step"), nb::arg("out"), nb::arg("model"),
             nb::arg("optimizer"), nb::arg("by"));
  module.def("study", &study, nb::arg("directory"));
}

}  // namespace eureka::python
