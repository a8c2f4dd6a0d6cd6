// What a run leaves behind: written, read back, and refused when it is not what it should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/crc32c.h"
#include "io/json.h"
#include "support/temporary_directory.h"
#include "train/checkpoint.h"
#include "train/records/branch_origin.h"
#include "train/records/metrics_row.h"
#include "train/records/number_name.h"
#include "train/records/record.h"
#include "train/records/run_event.h"
#include "train/records/run_meta.h"
#include "train/records/run_summary.h"

namespace eureka {
namespace {

using testing::HasSubstr;

const fs::path kFixtures = fs::path(EUREKA_TESTS) / "fixtures" / "v0.1";

std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, before.size(), after);
}

// The message with which `parse` refuses `text`, which must name the file.
template <class Parse>
std::string refusal(const Parse& parse, const std::string& text) {
  try {
    parse(text, "the file");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.where(), "the file");
    return error.what();
  }
  return "accepted";
}

struct OldFile {
  const char* path;
  std::function<std::string(std::string_view, const std::string&)> rewrite;  // read and written again
};

template <class Record>
auto rewrite_with(Record (*parse)(std::string_view, const std::string&)) {
  return [parse](std::string_view text, const std::string& where) { return to_text(parse(text, where)); };
}

const OldFile kOldFiles[] = {{"finished/summary.json", rewrite_with(parse_summary)},
                             {"moment/summary.json", rewrite_with(parse_summary)},
                             {"branch/origin.json", rewrite_with(parse_origin)},
                             {"interrupted/checkpoints/step-21/state.json", rewrite_with(parse_loop_state)}};

TEST(Records, OfTheFirstVersionAreReadAndWrittenToTheSameBytes) {
  for (const OldFile& file : kOldFiles) {
    const std::string text = read_file(kFixtures / file.path);
    EXPECT_EQ(file.rewrite(text, file.path), text) << file.path;
  }
  std::string rows, events;
  for (const MetricsRow& row : read_metrics(kFixtures / "moment")) rows += to_text(row) + "\n";
  EXPECT_EQ(rows, read_file(kFixtures / "moment" / "metrics.jsonl"));
  for (const RunEvent& event : read_events(kFixtures / "moment")) events += to_text(event) + "\n";
  EXPECT_EQ(events, read_file(kFixtures / "moment" / "events.jsonl"));
}

TEST(Records, EveryFieldOfTheFirstVersionIsNeededAndOfItsOwnType) {
  for (const OldFile& file : kOldFiles) {
    const auto whole = Json::parse(read_file(kFixtures / file.path));
    for (const auto& [key, value] : whole.items()) {
      auto without = whole, other = whole;
      without.erase(key);
      other[key] = Json::array();
      EXPECT_THAT(refusal(file.rewrite, without.dump()), HasSubstr("'" + key + "' is missing")) << file.path;
      EXPECT_THAT(refusal(file.rewrite, other.dump()), HasSubstr("'" + key + "' has a value of another type"));
    }
    for (const char* nonsense : {"", "[]", "null", "{\"step\": 1", "\xff"})
      EXPECT_THAT(refusal(file.rewrite, nonsense), HasSubstr("not ")) << file.path;
  }
}

TEST(Records, AFieldNobodyAsksForIsPassedOver) {
  for (const OldFile& file : kOldFiles) {
    const std::string text = read_file(kFixtures / file.path);
    EXPECT_EQ(file.rewrite(replaced(text, "{", "{\"mood\": [\"good\"],"), file.path), text);
  }
}

TEST(Records, ALaterFormatIsRefusedByNameAndNumber) {
  for (const OldFile& file : kOldFiles) {
    const std::string text = read_file(kFixtures / file.path);
    EXPECT_EQ(file.rewrite(replaced(text, "{", "{\"format\": 1,"), file.path), text);
    const std::string later = replaced(text, "{", "{\"format\": 2,");
    EXPECT_THAT(refusal(file.rewrite, later), HasSubstr("in format 2; eureka " EUREKA_VERSION " reads up to format 1"));
    EXPECT_THROW(file.rewrite(later, "the file"), NewerFormat);
    EXPECT_THAT(refusal(file.rewrite, replaced(text, "{", "{\"format\": \"x\",")), HasSubstr("'format'"));
    EXPECT_THAT(refusal(file.rewrite, replaced(text, "{", "{\"format\": 0,")), HasSubstr("there is no format 0"));
  }
}

TEST(Records, AFieldThatWasAddedLaterHasItsDefaultInOlderFiles) {
  const RecordReader fields(R"({"step": 3})", {"a record", 1, ""}, "the file");
  EXPECT_EQ(fields.get_or<std::int64_t>("step", 7), 3);
  EXPECT_EQ(fields.get_or<std::int64_t>("restarts", 7), 7);
  EXPECT_EQ(fields.get_or<std::string>("note", "none"), "none");
}

TEST(MetricsRow, KeepsTheOrderAndEveryBitOfItsNumbers) {
  MetricsRow row{.step = 25, .numbers = {}};
  row.add("val_accuracy", 0.1 + 0.2);
  row.add(kValidationLoss, 1e-300);
  row.add("attention/0/1/entropy", 0.5);
  row.add("gradient_norm", std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_text(row),
            R"({"step":25,"val_accuracy":0.30000000000000004,"val_loss":1e-300,"attention/0/1/entropy":0.5,)"
            R"("gradient_norm":null})");
  const MetricsRow back = parse_metrics_row(to_text(row), "the file");
  EXPECT_EQ(back.step, 25);
  ASSERT_EQ(back.numbers.size(), 4U);
  EXPECT_EQ(back.numbers[2], (std::pair<std::string, double>("attention/0/1/entropy", 0.5)));
  EXPECT_EQ(back.validation_metric(), 0.1 + 0.2);
  EXPECT_TRUE(std::isnan(back.find("gradient_norm").value()));
  EXPECT_FALSE(back.find("mood"));
}

TEST(MetricsRow, OfAFileIsRefusedWithItsLineAndATornLastOneDropped) {
  const TemporaryDirectory run;
  const std::string row = R"({"step":0,"val_accuracy":0.5,"val_loss":1.0})";
  replace_file(run.path() / "metrics.jsonl", row + "\n" + row.substr(0, 20));
  EXPECT_EQ(read_metrics(run.path()).size(), 1U);
  for (const char* wrong :
       {"[1]", R"({"step":1.5,"val_accuracy":0.5,"val_loss":1.0})",
        R"({"step":1,"val_accuracy":"half","val_loss":1.0})", R"({"step":1,"val_loss":1.0})", R"({"step":1})"}) {
    replace_file(run.path() / "metrics.jsonl", row + "\n" + wrong + "\n");
    try {
      read_metrics(run.path(), {"val_accuracy"});
      ADD_FAILURE() << "accepted: " << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), (run.path() / "metrics.jsonl").string() + ":2");
    }
  }
}

TEST(RunEvent, IsReadBackAsWhatItWas) {
  const RunEvent event = parse_event(to_text({7, Divergence{"val_loss", "nan"}}), "the file");
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(std::get<Divergence>(event.what).quantity, "val_loss");
  EXPECT_TRUE(std::holds_alternative<MomentWithdrawn>(parse_event(to_text({7, MomentWithdrawn{}}), "").what));
  const RunEvent kept = parse_event(to_text({1175, MomentCheckpoint{1000, "before"}}), "the file");
  EXPECT_EQ(std::get<MomentCheckpoint>(kept.what).of, 1000);
  EXPECT_EQ(std::get<MomentCheckpoint>(kept.what).stage, "before");
  EXPECT_THAT(refusal(parse_event, R"({"step": 7, "event": "party"})"), HasSubstr("there is no event 'party'"));
  const std::vector<RunEvent> old = read_events(kFixtures / "moment");
  ASSERT_EQ(old.size(), 3U);
  EXPECT_NEAR(std::get<MomentConfirmed>(old[1].what).at, 1053, 1);
}

TEST(RunMeta, OfARunBeforeInstructionSetsWereWritten) {
  const RunMeta meta = read_meta(kFixtures / "interrupted");
  EXPECT_EQ(meta.version, "0.1.0");
  EXPECT_EQ(meta.status, RunStatus::interrupted);
  EXPECT_EQ(meta.updates_done, 21);
  EXPECT_EQ(meta.instructions, "unknown");
  EXPECT_EQ(writer_of(kFixtures / "interrupted"), "eureka 0.1.0");
  EXPECT_EQ(writer_of(kFixtures), "an unknown eureka");
  EXPECT_THAT(refusal(parse_meta, replaced(to_text(meta), "interrupted", "asleep")), HasSubstr("no status 'asleep'"));
  const std::string later = replaced(replaced(to_text(meta), "{", "{\"format\": 2,"), "0.1.0", "9.0.0");
  try {
    parse_meta(later, "the file");
    ADD_FAILURE() << "accepted";
  } catch (const NewerFormat& error) {
    EXPECT_THAT(error.hint(), HasSubstr("use eureka 9.0.0"));
  }
}

TEST(RunSummary, NamesItsMetricWhereThatIsNotTheAccuracy) {
  RunSummary summary;
  summary.metric = "explained_variance";
  summary.final_validation_metric = -0.25;
  const std::string text = to_text(summary);
  EXPECT_THAT(text, HasSubstr("\"metric\": \"explained_variance\""));
  EXPECT_THAT(text, HasSubstr("\"final_validation_explained_variance\": -0.25"));
  EXPECT_EQ(parse_summary(text, "the file").final_validation_metric, -0.25);
  EXPECT_FALSE(parse_summary(text, "the file").task_plateau);
}

TEST(RunSummary, SaysWhereARunEndedThatWasLeavingItsPlateau) {
  RunSummary summary;
  summary.stuck_level = 0.55;
  EXPECT_EQ(to_text(summary).find("under_way"), std::string::npos);
  EXPECT_FALSE(parse_summary(to_text(summary), "the file").under_way);
  summary.under_way = 0.7;
  const RunSummary back = parse_summary(to_text(summary), "the file");
  EXPECT_EQ(back.under_way, 0.7);
  EXPECT_EQ(back.stuck_level, 0.55);
}

TEST(RunSummary, KeepsGrokkingAndAFirstRiseApartFromTheMoment) {
  RunSummary summary;
  summary.steps = 2000;
  EXPECT_EQ(to_text(summary).find("grokking"), std::string::npos);
  EXPECT_EQ(to_text(summary).find("first_rise"), std::string::npos);
  summary.grokking = {
      .step = 900, .plateau_level = 0.1, .level_after = 1, .rise_start = 700, .rise_end = 1100, .score = 0.5};
  summary.first_rise = {.step = 40, .from = 0.03, .to = 0.25, .rise_start = 20, .rise_end = 60};
  const RunSummary back = parse_summary(to_text(summary), "the file");
  EXPECT_FALSE(back.moment);
  ASSERT_TRUE(back.grokking);
  EXPECT_EQ(back.grokking->step, 900);
  EXPECT_EQ(back.grokking->rise_width(), 400);
  ASSERT_TRUE(back.first_rise);
  EXPECT_EQ(back.first_rise->from, 0.03);
  EXPECT_EQ(back.first_rise->rise_end, 60);
  summary.grokking.reset();
  summary.grokking_under_way = 0.4;
  EXPECT_EQ(parse_summary(to_text(summary), "the file").grokking_under_way, 0.4);
}

TEST(RunSummary, HoldsWhatDiagnosticsSawLast) {
  RunSummary summary;
  EXPECT_FALSE(parse_summary(to_text(summary), "the file").diagnostics);
  summary.diagnostics = MetricsRow{.step = 50, .numbers = {{"attention/entropy", 0.75}}};
  const RunSummary back = parse_summary(to_text(summary), "the file");
  EXPECT_EQ(back.diagnostics->step, 50);
  EXPECT_EQ(back.diagnostics->find("attention/entropy"), 0.75);
}

TEST(RunSummary, WithStepsThatCannotBeIsRefused) {
  RunSummary summary;
  summary.steps = 1000;
  summary.moment = {.step = 1000, .plateau_level = 0.5, .level_after = 1, .rise_start = 900, .rise_end = 1100};
  EXPECT_EQ(parse_summary(to_text(summary), "the file").moment->step, 1000);
  summary.grokking = summary.moment;
  summary.grokking->step = 1001;
  EXPECT_THAT(refusal(parse_summary, to_text(summary)), HasSubstr("no moment is at step 1001 of 1000"));
  summary.grokking.reset();
  summary.moment->step = -1;
  EXPECT_THAT(refusal(parse_summary, to_text(summary)), HasSubstr("no moment is at step -1 of 1000"));
  summary.moment.reset();
  summary.steps = -1000;
  EXPECT_THAT(refusal(parse_summary, to_text(summary)), HasSubstr("a run has no -1000 steps"));
}

TEST(RunSummary, OfARunThatHasNotEndedIsNone) {
  EXPECT_FALSE(read_summary(kFixtures / "interrupted"));
  EXPECT_FALSE(read_summary(kFixtures / "finished")->moment);
  EXPECT_THAT(
      refusal(parse_summary, replaced(read_file(kFixtures / "finished" / "summary.json"), "finished", "running")),
      HasSubstr("does not end with status 'running'"));
}

// A checkpoint whose state.json is `state`, intact by its checksums.
void write_with_state(const fs::path& run, std::int64_t step, const std::string& state) {
  const fs::path directory = run / "checkpoints" / ("step-" + std::to_string(step));
  auto done = Json::parse(read_file(directory / "DONE"));
  done["state.json"] = {{"bytes", state.size()}, {"crc32c", crc32c(state)}};
  replace_file(directory / "state.json", state);
  replace_file(directory / "DONE", done.dump(1) + "\n");
}

TEST(LoopState, OfALaterFormatIsNoDamage) {
  const TemporaryDirectory run;
  fs::copy(kFixtures / "interrupted", run.path(), fs::copy_options::recursive);
  const std::string state = read_file(run.path() / "checkpoints" / "step-21" / "state.json");
  write_with_state(run.path(), 21, replaced(state, "{", "{\"format\": 2,"));
  try {
    read_checkpoint(run.path(), 21);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("state of a checkpoint in format 2"));
    EXPECT_THAT(error.message(), HasSubstr("state.json"));
    EXPECT_EQ(error.message().find("damaged"), std::string::npos) << error.message();
  }
  write_with_state(run.path(), 21, replaced(state, "\"sum_steps\"", "\"sums\""));
  try {
    read_checkpoint(run.path(), 21);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("'sum_steps' is missing"));
    EXPECT_THAT(error.message(), HasSubstr("--step 20"));
  }
}

// The norm of a gradient may overflow while the loss is still finite.
TEST(LoopState, SaysWhyItWasSavedOnlyWhereThatMatters) {
  EXPECT_TRUE(parse_loop_state(to_text({.step = 3, .around_moment = true}), "the file").around_moment);
  EXPECT_THAT(to_text(LoopState{.step = 3}), testing::Not(HasSubstr("around_moment")));
}

TEST(NumberName, IsTakenApartIntoWhatAndWhere) {
  EXPECT_EQ(parse_number_name("attention/entropy/layer0/head1"),
            (NumberName{"attention", "entropy", "", "layer0", "head1"}));
  EXPECT_EQ(parse_number_name("gradients/norm/layer_norm/layer12"),
            (NumberName{"gradients", "norm", "layer_norm", "layer12", ""}));
  EXPECT_EQ(parse_number_name("gradients/norm/head"), (NumberName{"gradients", "norm", "head", "", ""}));
  EXPECT_EQ(parse_number_name("probes/accuracy/same/q/token0/layer1/head0"),
            (NumberName{"probes", "accuracy", "same/q/token0", "layer1", "head0"}));
  EXPECT_EQ(parse_number_name("val_loss"), std::nullopt);
}

TEST(LoopState, WithASumThatIsInfiniteCanBeResumed) {
  LoopState loop{.step = 3, .gradient_norm_sum = std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(std::isnan(parse_loop_state(to_text(loop), "the file").gradient_norm_sum));
}

}  // namespace
}  // namespace eureka
