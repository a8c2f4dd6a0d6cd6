// The run directory that `eureka.watch` writes.
#include "train/watched_run.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "findings.h"

namespace eureka::python {
namespace {

RunStatus status_of(const std::string& name) {
  const auto names = enum_names(RunStatus());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<RunStatus>(i);
  throw Error(ErrorKind::usage, fmt::format("there is no status '{}'", name));
}

}  // namespace

void bind_watched_run(nb::module_& module) {
  nb::class_<WatchedRun>(module, "WatchedRun")
      .def(
          "__init__",
          [](WatchedRun* self, const std::string& path, const std::string& program, const std::string& model,
             const std::string& attention, const std::string& device, std::int64_t parameters, std::int64_t seed,
             std::int64_t threads, std::optional<double> plateau_level) {
            new (self) WatchedRun(path, {program, model, attention, device, parameters, seed, threads, plateau_level});
          },
          nb::arg("path"), nb::arg("program"), nb::arg("model"), nb::arg("attention"), nb::arg("device"),
          nb::arg("parameters"), nb::arg("seed"), nb::arg("threads"), nb::arg("plateau_level").none())
      .def(
          "describe",
          [](WatchedRun& self, const std::map<std::string, std::string>& more) {
            self.describe(OptionValues(more.begin(), more.end()));
          },
          nb::arg("more"))
      .def(
          "log",
          [](WatchedRun& self, std::int64_t step, std::vector<std::pair<std::string, double>> numbers) {
            self.log({.step = step, .numbers = std::move(numbers)});
          },
          nb::arg("step"), nb::arg("numbers"))
      .def("findings", [](const WatchedRun& self) { return dict_of(self.findings()); })
      .def(
          "end",
          [](WatchedRun& self, const std::string& status, std::int64_t steps) { self.end(status_of(status), steps); },
          nb::arg("status"), nb::arg("steps"));
}

}  // namespace eureka::python
