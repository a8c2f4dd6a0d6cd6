// What is read from records that are written by hand: each reading, and what is missing or damaged.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "report/diagnosis_advice.h"
#include "report/diagnosis_text.h"
#include "report/table.h"
#include "support/drawn_study.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSoftmax = "[attention]\nrule = 'softmax'\n[attention.scale]\nkind = 'fixed'\nmultiple = 2.0\n";
constexpr const char* kWatched =
    "[watch]\nprogram = 'PyTorch 2.13.0'\nmodel = 'Encoder'\nattention = 'softmax'\n[watch.layers]\nlayer0 = "
    "'blocks.0.attn'\n";

// Of layer 0; a number below 0 is not written.
struct Shown {
  double entropy = -1, parameters = -1, activations = -1, through = -1;
};

class DiagnosisOfARun : public testing::Test {
 protected:
  fs::path run() const { return directory_.path() / "a run"; }

  // Rows at every 25 steps up to 1,000, looks at every 100 from `first_look` on. Up to step 100 the curve is below its
  // plateau at 0.55; it leaves it at `moment`.
  void write(const std::function<Shown(int step)>& shown, int moment = 2000, int first_look = 0,
             const std::string& config = kSoftmax) const {
    std::string rows;
    for (int step = 0; step <= 1000; step += 25) {
      rows += fmt::format("{{\"step\":{},\"val_accuracy\":{}", step, step < 100 ? 0.1 : step < moment ? 0.55 : 1.0);
      const Shown look = shown(step);
      if (step % 100 == 0 && step >= first_look)
        for (const auto& [name, value] : {std::pair{"attention/entropy", look.entropy},
                                          {"gradients/qk_to_v", look.parameters},
                                          {"attenuation/qk_to_v", look.activations},
                                          {"attenuation/through_softmax", look.through}})
          if (value >= 0) rows += fmt::format(",\"{}/layer0\":{},\"{}/layer0/head0\":7", name, value, name);
      rows += "}\n";
    }
    write_run(run(), {.moment = moment > 1000 ? std::nullopt : std::optional<double>(moment)});
    write_text(run() / "metrics.jsonl", rows);
    write_text(run() / "config.toml", config);
  }
  RunDiagnosis diagnosed(std::optional<double> plateau = 0.55) const {
    Judgement judgement{.metric = Metric::accuracy(plateau), .detector = {}};
    judgement.detector.plateau_level = plateau;
    if (plateau) judgement.detector.best_level = 1;
    return diagnose(read_run(run(), {}), judgement);
  }
  LayerDiagnosis layer() const { return diagnosed().layers.at(0); }
  static std::string text(const RunDiagnosis& run) { return diagnosis_text(run, 500, {}); }

  TemporaryDirectory directory_;
};

Shown starved(int step) { return {step == 0 ? 0.999 : 0.5 + step / 10000.0, step == 0 ? 0.05 : 0.4, 0.07, 0.2}; }

TEST_F(DiagnosisOfARun, EvenAttentionThatStarvesIsReadAtTheStartAndToldOnThePlateau) {
  write(starved);
  const RunDiagnosis run = diagnosed();
  EXPECT_EQ(run.curve.state, CurveState::on_plateau);
  EXPECT_NEAR(run.curve.plateau->start, 100, 50);
  EXPECT_NEAR(run.curve.plateau->level, 0.55, 0.01);
  ASSERT_EQ(run.layers.size(), 1U);
  EXPECT_EQ(run.layers[0].reading, SoftmaxReading::starved_even);
  EXPECT_EQ(run.layers[0].first.qk_to_v, 0.05);
  EXPECT_EQ(run.layers[0].plateau.qk_to_v, 0.4);
  EXPECT_EQ(run.plateau_looks, 10U);
  EXPECT_NEAR(*run.layers[0].plateau.entropy, 0.555, 1e-9) << "the median of looks at 100 to 1000";
  const std::string said = text(run);
  for (const char* part : {"On a plateau since step", "starved at the start, because attention is spread evenly",
                           "attention.scale.multiple=8", "attention.rule=norm_softmax", "a run'@500 --set",
                           "paired seeds", "seeds = 10", "share of log(keys)"})
    EXPECT_THAT(said, HasSubstr(part));
}

TEST_F(DiagnosisOfARun, LooksBehindTheMomentAreNotOnThePlateau) {
  write([](int step) { return Shown{step < 600 ? 0.8 : 0.02, 0.5, 0.5, 0.1}; }, 600);
  const RunDiagnosis run = diagnosed();
  EXPECT_EQ(run.curve.state, CurveState::moment);
  EXPECT_NEAR(*run.curve.step, 590, 25);
  EXPECT_EQ(run.layers[0].plateau.entropy, 0.8);
  EXPECT_EQ(run.layers[0].reading, SoftmaxReading::not_starved) << "sharp attention that has learned is no fault";
  EXPECT_THAT(text(run), HasSubstr("No sign that the softmax is the obstacle"));
  EXPECT_THAT(text(run), Not(HasSubstr("eureka branch")));
}

TEST_F(DiagnosisOfARun, NarrowAttentionIsReadAtTheStartOrOnThePlateau) {
  write([](int) { return Shown{0.03, 1.5, 1.5, 0.01}; });
  EXPECT_EQ(layer().reading, SoftmaxReading::narrow);
  EXPECT_THAT(text(diagnosed()), HasSubstr("narrow from the start"));
  write([](int step) { return Shown{step == 0 ? 0.4 : 0.02, 1.5, 1.5, 0.01}; });
  EXPECT_EQ(layer().reading, SoftmaxReading::narrow);
  EXPECT_THAT(text(diagnosed()), HasSubstr("narrow on the plateau"));
  EXPECT_THAT(text(diagnosed()), HasSubstr("attention.scale.multiple=0.5"));
  EXPECT_THAT(text(diagnosed()), Not(HasSubstr("attention.rule=")));
  write([](int) { return Shown{0.03, 1.5, 1.5, 0.01}; }, 2000, 0, "[attention.scale]\nkind = 'half-cosine'\n");
  EXPECT_THAT(text(diagnosed()), Not(HasSubstr("eureka study"))) << "a schedule has no scale to change";
}

TEST_F(DiagnosisOfARun, StarvingThatEvenAttentionDoesNotExplainIsSaidSo) {
  write([](int) { return Shown{0.5, 0.05, 0.07, 0.01}; });
  EXPECT_EQ(layer().reading, SoftmaxReading::starved);
  EXPECT_THAT(text(diagnosed()), HasSubstr("not because attention is even"));
}

TEST_F(DiagnosisOfARun, WithoutThoseOfParametersTheGradientsOfQueriesAndKeysAreRead) {
  write([](int) { return Shown{0.999, -1, 0.05, 0.2}; });
  EXPECT_FALSE(layer().of_parameters);
  EXPECT_EQ(layer().reading, SoftmaxReading::starved_even);
  EXPECT_THAT(text(diagnosed()), HasSubstr("queries and keys get 0.05000 of"));
  write([](int) { return Shown{0.9, 0.15, 0.05, 0.2}; });
  EXPECT_EQ(layer().reading, SoftmaxReading::not_starved) << "those of parameters go first";
}

TEST_F(DiagnosisOfARun, WhatNobodyLookedAtIsNotKnownAndHowToRecordItIsSaid) {
  write([](int) { return Shown{0.999, -1, -1, -1}; });
  EXPECT_EQ(layer().reading, SoftmaxReading::not_known);
  EXPECT_THAT(layer().missing, ElementsAre("gradients"));
  EXPECT_THAT(text(diagnosed()), HasSubstr("diagnose.names=gradients,attention,attenuation"));
  write([](int) { return Shown{}; });
  EXPECT_TRUE(diagnosed().layers.empty());
  EXPECT_EQ(diagnosed().reading(), SoftmaxReading::not_known);
  EXPECT_THAT(text(diagnosed()), HasSubstr("nobody looked at the attention"));
  write(starved, 2000, /*first_look=*/300);
  EXPECT_EQ(layer().reading, SoftmaxReading::not_known) << "starving shows at the start";
  EXPECT_THAT(text(diagnosed()), HasSubstr("the first look is at step 300"));
}

TEST_F(DiagnosisOfARun, AWatchedRunGetsPythonAndTheNamesOfItsModules) {
  write(starved, 2000, 0, kWatched);
  const std::string said = text(diagnosed());
  for (const char* part :
       {"watched in PyTorch 2.13.0", "layer0 (blocks.0.attn)", "eureka.cure(model, \"norm_softmax\")",
        "\"norm_softmax\": {\"rule\": \"norm_softmax\"}}, seeds=range(10))"})
    EXPECT_THAT(said, HasSubstr(part));
  EXPECT_THAT(said, Not(HasSubstr("eureka branch")));
  write([](int) { return Shown{}; }, 2000, 0, kWatched);
  EXPECT_THAT(text(diagnosed()), HasSubstr("eureka.watch(model"));
}

TEST_F(DiagnosisOfARun, DamagedRowsAndValuesThatAreNoNumbersAreLeftOut) {
  write(starved);
  std::string rows = read_file(run() / "metrics.jsonl");
  const std::string known = "\"gradients/qk_to_v/layer0\":0.4";
  for (std::size_t at; (at = rows.find(known)) != std::string::npos;)
    rows.replace(at, known.size(), "\"gradients/qk_to_v/layer0\":null");
  write_text(run() / "metrics.jsonl", rows + "{\"step\": 1025, \"val_acc\n[]\n{\"step\":");
  const RunDiagnosis damaged = diagnosed();
  EXPECT_EQ(damaged.layers.at(0).reading, SoftmaxReading::starved_even);
  EXPECT_FALSE(damaged.layers[0].plateau.qk_to_v);
  EXPECT_THAT(damaged.problems, testing::Contains(HasSubstr("cannot be read")));
  EXPECT_THAT(text(damaged), HasSubstr(" -"));
  EXPECT_TRUE(diagnosis_json(damaged).at("layers").front().at("plateau").at("qk_to_v").is_null());
}

TEST_F(DiagnosisOfARun, ACurveThatSaysNothingIsSaidToSayNothing) {
  write(starved);
  const std::string rows = read_file(run() / "metrics.jsonl");
  write_text(run() / "metrics.jsonl", rows.substr(0, rows.find("{\"step\":75")));
  EXPECT_EQ(diagnosed().curve.state, CurveState::too_short);
  EXPECT_EQ(layer().reading, SoftmaxReading::starved_even) << "the start was seen all the same";
  EXPECT_THAT(text(diagnosed()), HasSubstr("Too short to say"));
  write_text(run() / "metrics.jsonl", "");
  EXPECT_THAT(text(diagnosed()), HasSubstr("no row yet"));
  fs::remove(run() / "config.toml");
  EXPECT_THAT(text(diagnosed()), HasSubstr("cannot be trained again"));
  EXPECT_THAT(text(diagnosed()), Not(HasSubstr("eureka train")));
}

TEST_F(DiagnosisOfARun, WithoutAKnownLevelRestIsNotCalledAPlateau) {
  write(starved);
  EXPECT_EQ(diagnosed(std::nullopt).curve.state, CurveState::at_rest);
  EXPECT_THAT(text(diagnosed(std::nullopt)), HasSubstr("nobody has said"));
}

TEST_F(DiagnosisOfARun, NoLineButACommandIsWiderThanTheTerminal) {
  write(starved);
  std::istringstream lines(diagnosis_text(diagnosed(), 500, {.width = 40}));
  for (std::string line; std::getline(lines, line) && line.find("eureka train") == std::string::npos;)
    EXPECT_TRUE(display_width(line) <= 40 || line.find(' ') == std::string::npos) << line;
}

TEST(DiagnosisOfAStudy, HasCountsAndMediansOfEachArm) {
  RunDiagnosis one;
  one.curve.state = CurveState::moment;
  one.layers = {{.layer = "layer0", .first = {.qk_to_v = 0.1}, .reading = SoftmaxReading::starved_even}};
  RunDiagnosis other = one;
  other.curve.state = CurveState::on_plateau;
  other.layers = {{.layer = "layer0", .first = {.qk_to_v = 0.3}, .reading = SoftmaxReading::not_starved},
                  {.layer = "layer1", .reading = SoftmaxReading::narrow}};
  const ArmDiagnosis arm{"softmax", {one, other, {}}};
  EXPECT_EQ(arm.moments(), 1U);
  EXPECT_EQ(arm.read_as(SoftmaxReading::narrow), 1U) << "a run is what its layers say that say most";
  EXPECT_EQ(arm.read_as(SoftmaxReading::not_known), 1U);
  ASSERT_EQ(arm.layers().size(), 2U);
  EXPECT_DOUBLE_EQ(*arm.layers()[0].first.qk_to_v, 0.2);
  EXPECT_FALSE(arm.layers()[1].first.qk_to_v);
  const StudyDiagnosis study{"studies/a", {{"", {arm}}}, {}};
  EXPECT_THAT(diagnosis_text(study, {}), HasSubstr("softmax       1/3         1        1             0           1"));
  EXPECT_EQ(diagnosis_json(study).at("points").front().at("arms").front().at("readings").at("starved-even"), Json(1));
  const StudyDiagnosis unseen{"studies/a b", {{"", {ArmDiagnosis{"softmax", {RunDiagnosis{}}}}}}, {}};
  EXPECT_THAT(diagnosis_text(unseen, {}), HasSubstr("eureka study 'studies/a b/study.toml' --out"));
}

}  // namespace
}  // namespace eureka
