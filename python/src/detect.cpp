// The detector: a whole curve at once, or point by point.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>

#include <fmt/format.h>

#include "arrays.h"
#include "base/error.h"
#include "bindings.h"
#include "findings.h"
#include "stats/detector.h"

namespace eureka::python {
namespace {

nb::dict dict_of(const Plateau& plateau) {
  nb::dict all;
  all["start"] = plateau.start;
  all["end"] = plateau.end;
  all["level"] = plateau.level;
  return all;
}

nb::dict dict_of(const Moment& moment) {
  nb::dict all;
  all["step"] = moment.step;
  all["rise_start"] = moment.rise_start;
  all["rise_end"] = moment.rise_end;
  all["before"] = moment.from;
  all["after"] = moment.to;
  all["score"] = moment.score;
  all["plateau"] = dict_of(moment.plateau);
  return all;
}

std::vector<CurvePoint> points_of(const Numbers& steps, const Numbers& values) {
  if (steps.shape(0) != values.shape(0))
    throw Error(ErrorKind::input, fmt::format("{} steps for {} values", steps.shape(0), values.shape(0)));
  std::vector<CurvePoint> points(steps.shape(0));
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {steps.data()[i], values.data()[i]};
  return points;
}

DetectorOptions options_of(const std::string& direction, std::optional<double> plateau_level,
                           std::optional<double> best_level, std::optional<double> budget) {
  DetectorOptions options;
  if (direction != "up" && direction != "down")
    throw Error(ErrorKind::input, fmt::format("there is no direction '{}'", direction), {},
                "up where larger is better, down for a loss");
  options.direction = direction == "up" ? Direction::up : Direction::down;
  options.plateau_level = plateau_level;
  options.best_level = best_level;
  options.budget = budget;
  return options;
}

}  // namespace

nb::dict dict_of(const Findings& findings) {
  nb::list plateaus, moments, groks;
  for (const Plateau& plateau : findings.plateaus) plateaus.append(dict_of(plateau));
  for (const Moment& moment : findings.moments) moments.append(dict_of(moment));
  for (const Moment& grok : findings.groks) groks.append(dict_of(grok));
  nb::dict all;
  all["plateaus"] = plateaus;
  all["moments"] = moments;
  all["groks"] = groks;
  all["first_rise"] = nb::none();
  all["under_way"] = nb::none();
  if (const auto& rise = findings.first_rise) {
    nb::dict first;
    first["step"] = rise->step;
    first["rise_start"] = rise->rise_start;
    first["rise_end"] = rise->rise_end;
    first["before"] = rise->from;
    first["after"] = rise->to;
    all["first_rise"] = first;
  }
  if (const auto& rise = findings.under_way) {
    nb::dict under_way;
    under_way["rise_start"] = rise->rise_start;
    under_way["before"] = rise->from;
    under_way["reached"] = rise->reached;
    under_way["plateau"] = dict_of(rise->plateau);
    under_way["kind"] = enum_names(RiseKind())[static_cast<std::size_t>(rise->kind)];
    all["under_way"] = under_way;
  }
  return all;
}

void bind_detect(nb::module_& module) {
  module.def("guess_direction", [](const std::string& name, const Numbers& steps, const Numbers& values) {
    return guess_direction(name, points_of(steps, values)) == Direction::up ? "up" : "down";
  });
  module.def(
      "detect",
      [](const Numbers& steps, const Numbers& values, const Numbers& training_steps, const Numbers& training_values,
         const std::string& direction, std::optional<double> plateau_level, std::optional<double> best_level,
         std::optional<double> budget) {
        const DetectorOptions options = options_of(direction, plateau_level, best_level, budget);
        const std::vector<CurvePoint> points = points_of(steps, values),
                                      training = points_of(training_steps, training_values);
        Findings findings;
        {
          nb::gil_scoped_release release;
          findings = detect(points, training, options);
        }
        return dict_of(findings);
      },
      nb::arg("steps"), nb::arg("values"), nb::arg("training_steps"), nb::arg("training_values"), nb::arg("direction"),
      nb::arg("plateau_level").none(), nb::arg("best_level").none(), nb::arg("budget").none());

  nb::class_<MomentDetector>(module, "MomentDetector")
      .def(
          "__init__",
          [](MomentDetector* self, const std::string& direction, std::optional<double> plateau_level,
             std::optional<double> best_level, std::optional<double> budget) {
            new (self) MomentDetector(options_of(direction, plateau_level, best_level, budget));
          },
          nb::arg("direction"), nb::arg("plateau_level").none(), nb::arg("best_level").none(), nb::arg("budget").none())
      .def("add", &MomentDetector::add, nb::arg("step"), nb::arg("value"))
      .def("add_training", &MomentDetector::add_training, nb::arg("step"), nb::arg("value"))
      .def("finish", &MomentDetector::finish)
      .def("findings", [](const MomentDetector& self) { return dict_of(self.findings()); });
}

}  // namespace eureka::python
