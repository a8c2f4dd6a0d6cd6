// eureka condition: what its sub-verbs share. What they print is built in report/condition_report.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "report/condition_report.h"

namespace eureka::cli {

struct ConditionOutput {
  bool json = false;
  std::string csv;
};

// Prints the report the way that was asked for.
void emit(const ConditionReport& report, const ConditionOutput& output);

// --json and --csv FILE.
void add_output_options(Command& verb, ConditionOutput& output);
// --examples, --tokens, --features, --outputs.
void add_size_options(Command& verb, theory::TeacherSize& size);
void add_threads_option(Command& verb, int& threads);
std::size_t threads_or_all(int threads);

// "0.7,0.2,0.1"; `option` names it in errors. Empty text is an empty list.
std::vector<double> parse_numbers(const std::string& text, const std::string& option);
std::vector<theory::Index> parse_counts(const std::string& text, const std::string& option);
std::vector<theory::AttentionKind> parse_kinds(const std::string& text);

// Each adds its sub-verb.
void add_condition_jacobian(Command& condition);
void add_condition_rates(Command& condition);
void add_condition_sweep(Command& condition);
void add_condition_race(Command& condition);
void add_condition_scale(Command& condition);
void add_condition_tables(Command& condition);

}  // namespace eureka::cli
