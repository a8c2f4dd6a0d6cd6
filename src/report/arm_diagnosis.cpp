#include "report/arm_diagnosis.h"

#include <algorithm>

namespace eureka {
namespace {

using Number = std::optional<double> AttentionLook::*;
using Phase = AttentionLook LayerDiagnosis::*;

std::optional<double> median_of(const std::vector<RunDiagnosis>& runs, std::size_t layer, Phase phase, Number number) {
  std::vector<double> values;
  for (const RunDiagnosis& run : runs)
    if (layer < run.layers.size() && run.layers[layer].*phase.*number)
      values.push_back(*(run.layers[layer].*phase.*number));
  return median_if_any(std::move(values));
}

}  // namespace

std::size_t ArmDiagnosis::moments() const {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const RunDiagnosis& run) { return run.curve.state == CurveState::moment; }));
}

std::size_t ArmDiagnosis::read_as(SoftmaxReading reading) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunDiagnosis& run) { return run.reading() == reading; }));
}

std::vector<LayerDiagnosis> ArmDiagnosis::layers() const {
  std::vector<LayerDiagnosis> medians;
  for (const RunDiagnosis& run : runs)
    for (std::size_t layer = medians.size(); layer < run.layers.size(); ++layer)
      medians.push_back({.layer = run.layers[layer].layer, .module = run.layers[layer].module});
  for (std::size_t layer = 0; layer < medians.size(); ++layer)
    for (const Phase phase : {&LayerDiagnosis::first, &LayerDiagnosis::plateau})
      for (const Number number : {&AttentionLook::entropy, &AttentionLook::qk_to_v, &AttentionLook::through_softmax})
        medians[layer].*phase.*number = median_of(runs, layer, phase, number);
  return medians;
}

Json diagnosis_json(const StudyDiagnosis& study) {
  Json points = Json::array();
  for (const auto& [name, arms] : study.points) {
    Json list = Json::array();
    for (const ArmDiagnosis& arm : arms) {
      Json readings = Json::object(), layers = Json::array(), runs = Json::array();
      for (const char* reading : enum_names(SoftmaxReading{})) readings[reading] = 0;
      for (const RunDiagnosis& run : arm.runs) {
        const char* reading = reading_name(run.reading());
        readings[reading] = readings.at(reading).get<std::int64_t>() + 1;
        runs.push_back(diagnosis_json(run));
      }
      for (const LayerDiagnosis& layer : arm.layers())
        layers.push_back({{"layer", layer.layer},
                          {"first_look", attention_look_json(layer.first)},
                          {"plateau", attention_look_json(layer.plateau)}});
      list.push_back({{"arm", arm.name},
                      {"moments", static_cast<std::int64_t>(arm.moments())},
                      {"readings", readings},
                      {"layers", layers},
                      {"runs", runs}});
    }
    points.push_back({{"point", name}, {"arms", list}});
  }
  return {{"study", study.directory.string()}, {"points", points}, {"problems", study.problems}};
}

}  // namespace eureka
