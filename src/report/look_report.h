// What diagnostics saw at checkpoints of a run: a table of layers and heads for each, lines that say what its numbers
// mean, and the same as JSON and CSV.
//
//   print("{}", Layout{look_text(report, color)});
//
//   attention: how sharply each head attends
//   step 400
//    layer   head   entropy   largest_weight
//        0    all     0.982            0.271
//        0      0     0.991            0.262
//    entropy          mean entropy of a row of weights: 0 one key, 1 all keys alike  [share of log(keys)]
#pragma once

#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "io/json.h"

namespace eureka {

// One that was asked to look.
struct LookedDiagnostic {
  std::string name;
  std::string description;
  std::vector<NumberInfo> numbers;
};

struct Look {
  std::int64_t step = 0;
  NamedNumbers numbers;  // of all diagnostics
  std::vector<std::string> files = {};
};

struct LookReport {
  std::string run;
  std::string model;
  std::string data;  // "validation" or "training"
  std::int64_t samples = 0;
  std::vector<LookedDiagnostic> diagnostics;
  std::vector<Look> looks;
  bool files_are_written = false;  // else they are names of what could be
};

// One table for every diagnostic and step, no line wider than 100 columns: what does not fit beside goes below.
std::string look_text(const LookReport& report, bool color);

Json look_json(const LookReport& report);

// One number per line: step, diagnostic, number, part, layer, head, value, unit.
std::string look_csv(const LookReport& report);

}  // namespace eureka
