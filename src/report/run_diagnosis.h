// Is the softmax the obstacle? What the records of one run say: where its curve stands, and layer by layer how even
// attention is, what W_Q and W_K get of W_V's gradient, and what the softmax lets through.
//
//   RunDiagnosis diagnosis = diagnose(read_run("runs/a", {}), {task->metric(), detector_options(*task, config)});
//   diagnosis.layers[0].reading          SoftmaxReading::starved_even
//
// A pure function of the records. The thresholds were measured: docs/diagnose.md says on which runs, and how often the
// readings were right.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "io/json.h"
#include "report/run_data.h"
#include "train/detection.h"

namespace eureka {

// At the first look: below this share of W_V's gradient W_Q and W_K starve (of the values' gradient queries and keys,
// where parameters could not be told apart), and above this evenness that is called the reason.
inline constexpr double kStarved = 0.1;
inline constexpr double kEvenAttention = 0.9;
// At the first look or on the plateau: attention less even than this is near one-hot.
inline constexpr double kNarrowAttention = 0.1;

// How a curve is judged.
struct Judgement {
  Metric metric;
  DetectorOptions detector;
};

enum class CurveState { too_short, on_plateau, at_rest, moment, under_way, grokking, no_plateau };
constexpr auto enum_names(CurveState) {
  return std::array{"too-short", "on-plateau", "at-rest", "moment", "under-way", "grokking", "no-plateau"};
}

struct CurveStanding {
  CurveState state = CurveState::too_short;
  std::optional<double> step;      // of the moment, of grokking, or where the rise began that is under way
  std::optional<Plateau> plateau;  // that it is on, or left
  double last_step = 0;
  std::optional<double> last_value;
};

enum class SoftmaxReading { starved_even, starved, narrow, not_starved, not_known };
constexpr auto enum_names(SoftmaxReading) {
  return std::array{"starved-even", "starved", "narrow", "not-starved", "not-known"};
}
inline const char* reading_name(SoftmaxReading reading) {
  return enum_names(reading)[static_cast<std::size_t>(reading)];
}

struct AttentionLook {
  std::optional<double> entropy, qk_to_v, through_softmax;
};

struct LayerDiagnosis {
  std::string layer;          // "layer0"
  std::string module;         // of a watched run, what the model calls it
  bool of_parameters = true;  // qk_to_v; else it is of queries, keys and values themselves
  AttentionLook first;        // at the first look
  AttentionLook plateau;      // medians of the looks on the plateau, the first look left out
  SoftmaxReading reading = SoftmaxReading::not_known;
  std::vector<std::string> missing;  // diagnostics it would take to know
};

struct RunDiagnosis {
  fs::path directory;
  std::string name, metric;     // the column it is judged by
  std::string rule, program;    // attention; who trained it, if that was watched
  std::optional<double> scale;  // of attention, where it is fixed, in units of 1/sqrt(head width)
  std::optional<std::int64_t> seed;
  bool has_config = true;  // else it cannot be trained again
  CurveStanding curve;
  std::optional<double> first_look;  // its step
  std::size_t plateau_looks = 0;
  std::vector<LayerDiagnosis> layers;
  std::vector<std::string> problems;

  // Of its layers the one that says most: starved in any, else narrow in any, else not known in any.
  SoftmaxReading reading() const;
  // The first look came too late to see whether W_Q and W_K starved at the start.
  bool began_unseen() const { return first_look && *first_look > 1; }
};

// Wants all curves of the run.
RunDiagnosis diagnose(const RunData& run, const Judgement& judgement);

Json diagnosis_json(const RunDiagnosis& diagnosis);
Json attention_look_json(const AttentionLook& look);

// Nothing of nothing.
std::optional<double> median_if_any(std::vector<double> values);

}  // namespace eureka
