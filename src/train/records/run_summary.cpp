#include "train/records/run_summary.h"

#include <fmt/format.h>

#include "io/json.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"a summary of a run", 1, "remove the file and run again with --resume"};

// The only one there was when the name was not written yet.
constexpr const char* kFirstMetric = "accuracy";

fs::path summary_file(const fs::path& run_directory) { return run_directory / "summary.json"; }

Json number_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json found_json(const MomentSummary& moment) {
  return {{"found", true},
          {"step", moment.step},
          {"plateau_level", moment.plateau_level},
          {"level_after", moment.level_after},
          {"rise_start", moment.rise_start},
          {"rise_end", moment.rise_end},
          {"score", moment.score}};
}

Json moment_json(const RunSummary& summary) {
  if (!summary.moment) {
    Json json = {{"found", false},
                 {"step", nullptr},
                 {"plateau_level", number_or_null(summary.stuck_level)},
                 {"level_after", nullptr}};
    if (summary.under_way) json["under_way"] = *summary.under_way;
    return json;
  }
  return found_json(*summary.moment);
}

Json grokking_json(const RunSummary& summary) {
  if (summary.grokking) return found_json(*summary.grokking);
  return {{"found", false}, {"under_way", number_or_null(summary.grokking_under_way)}};
}

Json first_rise_json(const FirstRiseSummary& rise) {
  return {{"step", rise.step},
          {"from", rise.from},
          {"to", rise.to},
          {"rise_start", rise.rise_start},
          {"rise_end", rise.rise_end}};
}

MomentSummary found_moment(const RecordReader& fields) {
  return {.step = fields.get<double>("step"),
          .plateau_level = fields.get<double>("plateau_level"),
          .level_after = fields.get<double>("level_after"),
          .rise_start = fields.get<double>("rise_start"),
          .rise_end = fields.get<double>("rise_end"),
          .score = fields.get<double>("score")};
}

void read_moment(const RecordReader& fields, RunSummary& summary) {
  if (!fields.get<bool>("found")) {
    summary.stuck_level = fields.get<std::optional<double>>("plateau_level");
    summary.under_way = fields.get_or<std::optional<double>>("under_way", std::nullopt);
    return;
  }
  summary.moment = found_moment(fields);
}

void read_grokking(const RecordReader& fields, RunSummary& summary) {
  if (fields.get<bool>("found")) {
    summary.grokking = found_moment(fields);
  } else {
    summary.grokking_under_way = fields.get<std::optional<double>>("under_way");
  }
}

FirstRiseSummary first_rise(const RecordReader& fields) {
  return {.step = fields.get<double>("step"),
          .from = fields.get<double>("from"),
          .to = fields.get<double>("to"),
          .rise_start = fields.get<double>("rise_start"),
          .rise_end = fields.get<double>("rise_end")};
}

RunStatus status_of_ended_run(const RecordReader& fields) {
  const auto name = fields.get<std::string>("status");
  for (const RunStatus status : {RunStatus::finished, RunStatus::diverged})
    if (name == status_name(status)) return status;
  fields.refuse(fmt::format("a run does not end with status '{}'", name));
}

// Steps that statistics cannot count with, or would count with falsely.
void refuse_what_cannot_be(const RecordReader& fields, const RunSummary& summary) {
  if (summary.steps < 0) fields.refuse(fmt::format("a run has no {} steps", summary.steps));
  for (const auto& found : {summary.moment, summary.grokking})
    if (found && !(found->step >= 0 && found->step <= static_cast<double>(summary.steps)))
      fields.refuse(fmt::format("no moment is at step {} of {}", found->step, summary.steps));
}

}  // namespace

std::string to_text(const RunSummary& summary) {
  Json json = {{"status", status_name(summary.status)},
               {"steps", summary.steps},
               {"seed", summary.seed},
               {"task", summary.task},
               {"model", summary.model},
               {"attention", summary.attention},
               {"parameters", summary.parameters}};
  if (summary.metric != kFirstMetric) json["metric"] = summary.metric;
  json["task_plateau_" + summary.metric] = number_or_null(summary.task_plateau);
  json["final_validation_" + summary.metric] = number_or_null(summary.final_validation_metric);
  json["final_validation_loss"] = number_or_null(summary.final_validation_loss);
  json["moment"] = moment_json(summary);
  if (summary.grokking || summary.grokking_under_way) json["grokking"] = grokking_json(summary);
  if (summary.first_rise) json["first_rise"] = first_rise_json(*summary.first_rise);
  if (summary.diagnostics) json["diagnostics"] = to_json(*summary.diagnostics);
  return json.dump(2) + "\n";
}

RunSummary parse_summary(std::string_view text, const std::string& where) {
  const RecordReader fields(text, kKind, where);
  RunSummary summary;
  summary.status = status_of_ended_run(fields);
  summary.steps = fields.get<std::int64_t>("steps");
  summary.seed = fields.get<std::int64_t>("seed");
  summary.task = fields.get<std::string>("task");
  summary.model = fields.get<std::string>("model");
  summary.attention = fields.get<std::string>("attention");
  summary.parameters = fields.get<std::int64_t>("parameters");
  summary.metric = fields.get_or<std::string>("metric", kFirstMetric);
  summary.task_plateau = fields.get<std::optional<double>>("task_plateau_" + summary.metric);
  summary.final_validation_metric = fields.get<std::optional<double>>("final_validation_" + summary.metric);
  summary.final_validation_loss = fields.get<std::optional<double>>("final_validation_loss");
  read_moment(fields.inside("moment"), summary);
  if (fields.has("grokking")) read_grokking(fields.inside("grokking"), summary);
  refuse_what_cannot_be(fields, summary);
  if (fields.has("first_rise")) summary.first_rise = first_rise(fields.inside("first_rise"));
  if (fields.has("diagnostics")) summary.diagnostics = metrics_row(fields.inside("diagnostics"));
  return summary;
}

std::optional<RunSummary> read_summary(const fs::path& run_directory) {
  const fs::path path = summary_file(run_directory);
  if (!fs::exists(path)) return std::nullopt;
  return parse_summary(read_file(path, 16 << 20), path.string());
}

void remove_summary(const fs::path& run_directory) {
  std::error_code failure;
  const bool was_there = fs::remove(summary_file(run_directory), failure);
  if (failure)
    throw Error(ErrorKind::failed, fmt::format("cannot remove: {}", failure.message()),
                summary_file(run_directory).string());
  if (was_there) sync_directory(run_directory);
}

void set_aside_damaged_summary(const fs::path& run_directory) {
  try {
    read_summary(run_directory);
  } catch (const NewerFormat&) {
    return;
  } catch (const Error&) {
    std::error_code ignored;  // then the run says what is wrong with it
    fs::rename(summary_file(run_directory), summary_file(run_directory).string() + ".damaged", ignored);
  }
}

}  // namespace eureka
