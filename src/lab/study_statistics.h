// The statistics of a study, each declared once: study.json, the CSV files, the terminal's table and `eureka list
// statistics` are made from these declarations.
//
//   for (const ArmStatistic& statistic : arm_statistics())
//     StatisticValue value = statistic.value({point, arm});
//   arm_statistic("speedup").title                               "speed-up"
//
// A new one is one line in study_statistics.cpp. docs/study-json.md says what each means at length.
#pragma once

#include <functional>
#include <string_view>
#include <variant>

#include "lab/study_report.h"

namespace eureka {

// Empty: the data cannot tell.
using StatisticValue = std::variant<std::monostate, std::int64_t, double, std::string>;

// What they are statistics of.
struct ArmAtPoint {
  const PointReport& point;
  const ArmResult& result;
};
struct TrialInStudy {
  const StudyReport& report;
  std::size_t index;
};

template <class Subject>
struct Statistic {
  std::string key;   // in study.json and CSV
  std::string help;  // one line
  std::function<StatisticValue(const Subject&)> value;
  // With 95%: becomes <key>_ci. Nothing when there is none; an open end lies beyond what was observed.
  std::function<std::optional<OpenInterval>(const Subject&)> interval;
  std::string title;                                // over a column of the terminal's table; the key when empty
  std::string format = "{:.0f}";                    // of a number there, and of the ends of its interval
  std::function<std::string(const Subject&)> text;  // there, where the number alone would not do
  std::string group;                                // an object of study.json that holds it; in CSV a prefix of its key
  bool only_if_any = false;                         // left out of the files of a study in which it is empty or 0 of all
};

using ArmStatistic = Statistic<ArmAtPoint>;
using TrialStatistic = Statistic<TrialInStudy>;

// In the order of the files.
const std::vector<ArmStatistic>& arm_statistics();
const std::vector<TrialStatistic>& trial_statistics();

// The key must be one of arm_statistics().
const ArmStatistic& arm_statistic(std::string_view key);

}  // namespace eureka
