// The diagnoses of the runs of one arm of a study, as medians and counts.
//
//   ArmDiagnosis arm{"softmax", diagnoses};
//   arm.read_as(SoftmaxReading::starved_even)        runs
//   arm.layers()[0].first.qk_to_v                    median over the runs that have it
#pragma once

#include <string>
#include <vector>

#include "report/run_diagnosis.h"

namespace eureka {

struct ArmDiagnosis {
  std::string name;
  std::vector<RunDiagnosis> runs;

  std::size_t moments() const;
  std::size_t read_as(SoftmaxReading reading) const;
  // Layers of the run that has most; only their names and numbers are told.
  std::vector<LayerDiagnosis> layers() const;
};

struct StudyDiagnosis {
  fs::path directory;
  // By point: its name, empty in a study without axes.
  std::vector<std::pair<std::string, std::vector<ArmDiagnosis>>> points;
  std::vector<std::string> problems;
};

Json diagnosis_json(const StudyDiagnosis& study);

}  // namespace eureka
