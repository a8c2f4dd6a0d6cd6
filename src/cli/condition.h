// eureka condition: what its sub-verbs share, and the tables that `condition tables` writes into the documents.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "report/result_table.h"
#include "theory/conditioning_case.h"
#include "theory/race.h"

namespace eureka::cli {

struct ConditionOutput {
  bool json = false;
  std::string csv;
};

struct ConditionReport {
  std::string theorem;              // what is tested, in one line
  std::vector<ResultTable> tables;  // the first is the one for CSV
  std::string plot;
  std::string note;
};

// Prints the report the way that was asked for.
void emit(const ConditionReport& report, const ConditionOutput& output);

// --json and --csv FILE.
void add_output_options(CLI::App& verb, ConditionOutput& output);
// --examples, --tokens, --features, --outputs.
void add_size_options(CLI::App& verb, theory::TeacherSize& size);
void add_threads_option(CLI::App& verb, int& threads);
std::size_t threads_or_all(int threads);

// "0.7,0.2,0.1"; `option` names it in errors. Empty text is an empty list.
std::vector<double> parse_numbers(const std::string& text, const std::string& option);
std::vector<theory::Index> parse_counts(const std::string& text, const std::string& option);
std::vector<theory::AttentionKind> parse_kinds(const std::string& text);

// A curve of base-10 logarithms for the terminal.
std::string log_plot(const std::string& title, const std::vector<double>& x, const std::vector<double>& log10_values);

// One teacher of a list over temperatures, or over planted (delta, q).
struct TeacherPoint {
  std::string name;
  theory::ConditioningCase the_case;
};
std::vector<TeacherPoint> temperature_points(const theory::TeacherSize& size, const std::vector<double>& temperatures,
                                             std::uint64_t seed);
std::vector<TeacherPoint> planted_points(const theory::TeacherSize& size,
                                         const std::vector<theory::Index>& extra_active,
                                         const std::vector<double>& deltas, std::uint64_t seed);
theory::Teacher teacher_of(const theory::ConditioningCase& c);

struct RateSettings {
  double eps = 1e-8;
  double max_kappa = 1e5;  // beyond, only the prediction
  bool heavy_ball = false;
  std::size_t threads = 1;
};
struct RateReport {
  ResultTable table;
  std::vector<double> hardest_curve;  // loss / initial loss of the measured case with the largest kappa
  std::string hardest_name;
};
RateReport rate_table(const std::vector<TeacherPoint>& points, const RateSettings& settings);

struct SweepReport {
  ResultTable table;
  ResultTable laws;
};
// Every point over `seeds` seeds, geometric means.
SweepReport sweep_table(const std::vector<TeacherPoint>& points, int seeds, std::size_t threads);

ResultTable race_table(const std::vector<theory::RaceTrack>& tracks, const std::vector<theory::Start>& starts,
                       const theory::RaceOptions& options, std::size_t threads);
ResultTable race_kappas(const std::vector<theory::RaceTrack>& tracks);

// Each adds its sub-verb.
void add_condition_jacobian(CLI::App& condition, Action& chosen);
void add_condition_rates(CLI::App& condition, Action& chosen);
void add_condition_sweep(CLI::App& condition, Action& chosen);
void add_condition_race(CLI::App& condition, Action& chosen);
void add_condition_scale(CLI::App& condition, Action& chosen);
void add_condition_tables(CLI::App& condition, Action& chosen);

}  // namespace eureka::cli
