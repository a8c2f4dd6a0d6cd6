#include "report/look_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/table.h"

namespace eureka {
namespace {

using testing::HasSubstr;

LookReport two_layers() {
  LookReport report{.run = "runs/a", .model = "transformer", .data = "validation", .samples = 256};
  report.diagnostics = {{"attention",
                         "how sharply each head attends",
                         {{"entropy", "share of log(keys)", "0 one key, 1 all alike"},
                          {"logit_max", "scaled logits", "largest absolute value"},
                          {"absent", "nothing", "a number without a meaning here"}}}};
  report.looks = {{400,
                   {{"attention/entropy/layer10", 0.5},
                    {"attention/entropy/layer2", 0.25},
                    {"attention/entropy/layer2/head0", 0.125},
                    {"attention/entropy/layer2/head1", 0.375},
                    {"attention/logit_max/layer2", 12.5},
                    {"other/entropy/layer2", 7}}}};
  return report;
}

TEST(LookReport, IsATableOfLayersAndHeadsWithTheMeaningBelow) {
  EXPECT_EQ(look_text(two_layers(), false),
            "runs/a · 256 validation samples\n"
            "\n"
            "attention: how sharply each head attends\n"
            "step 400\n"
            " layer   head   entropy   logit_max\n"
            "     2    all    0.2500       12.50\n"
            "     2      0    0.1250           -\n"
            "     2      1    0.3750           -\n"
            "    10    all    0.5000           -\n"
            " entropy    0 one key, 1 all alike [share of log(keys)]\n"
            " logit_max  largest absolute value [scaled logits]\n");
}

TEST(LookReport, NumbersOfTheWholeModelHaveARowOfTheirOwn) {
  LookReport report = two_layers();
  report.looks[0].numbers = {{"attention/entropy/layer0", 0.5}, {"attention/logit_max", 3}};
  EXPECT_THAT(look_text(report, false), HasSubstr(" layer   entropy   logit_max\n"
                                                  "     -         -       3.000\n"
                                                  "     0    0.5000           -\n"));
}

TEST(LookReport, PartsOfALayerHaveAColumnOfTheirOwn) {
  LookReport report = two_layers();
  report.looks[0].numbers = {{"attention/entropy/layer0", 0.5},
                             {"attention/logit_max/q/layer0", 2},
                             {"attention/logit_max/layer_norm", 3},
                             {"attention/logit_max/q/layer0/head1", 4}};
  EXPECT_THAT(look_text(report, false), HasSubstr(" layer   part         head   entropy   logit_max\n"
                                                  "     -   layer_norm    all         -       3.000\n"
                                                  "     0   -             all    0.5000           -\n"
                                                  "     0   q             all         -       2.000\n"
                                                  "     0   q               1         -       4.000\n"));
  EXPECT_THAT(look_csv(report), HasSubstr("400,attention,logit_max,q,0,1,4,scaled logits\n"));
  EXPECT_EQ(look_json(report).at("rows").at(1).at("part"), "q");
}

TEST(LookReport, NamesFilesAndHowToGetThem) {
  LookReport report = two_layers();
  report.diagnostics = {{"maps", "pictures", {}}};
  report.looks = {{400, {}, {"maps/attention.png"}}};
  EXPECT_THAT(look_text(report, false), HasSubstr("step 400\n no numbers; its files are named below\n"
                                                  "\nwith --out DIR also, for each step:\nmaps/attention.png\n"));
  EXPECT_EQ(look_json(report).at("files").size(), 0U);
  report.files_are_written = true;
  report.looks[0].files = {"out/step-400/maps/attention.png"};
  EXPECT_THAT(look_text(report, false), HasSubstr("below\n\nout/step-400/maps/attention.png\n"));
  EXPECT_EQ(look_json(report).at("files").at(0), "out/step-400/maps/attention.png");
}

TEST(LookReport, WhatDoesNotFitBesideGoesBelowAndNoLineIsTooWide) {
  LookReport report = two_layers();
  report.diagnostics[0].numbers.clear();
  report.looks[0].numbers.clear();
  for (int i = 0; i < 12; ++i) {
    const std::string name = "a_number_with_a_long_name_" + std::to_string(i);
    report.diagnostics[0].numbers.push_back({name, "share", std::string(40, 'm') + " " + std::string(60, 'n')});
    report.looks[0].numbers.emplace_back("attention/" + name + "/layer0", 1.0 / (i + 1));
  }
  std::istringstream lines(look_text(report, false));
  int headers = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 100) << line;
    if (line.starts_with(" layer ")) ++headers;
  }
  EXPECT_EQ(headers, 4);
}

TEST(LookReport, SaysSoWhenThereIsNothingToSee) {
  LookReport report = two_layers();
  report.model = "mlp";
  report.looks[0].numbers.clear();
  EXPECT_THAT(look_text(report, false), HasSubstr("step 400\n nothing to see of it in this model (mlp)\n"));
  EXPECT_EQ(look_json(report).at("rows").size(), 0U);
}

TEST(LookReport, CsvHasOneNumberPerLineWithItsStep) {
  LookReport report = two_layers();
  report.looks.push_back({800, {{"attention/logit_max/layer2", 0.1}}});
  EXPECT_EQ(look_csv(report),
            "step,diagnostic,number,part,layer,head,value,unit\n"
            "400,attention,entropy,,10,,0.5,share of log(keys)\n"
            "400,attention,entropy,,2,,0.25,share of log(keys)\n"
            "400,attention,entropy,,2,0,0.125,share of log(keys)\n"
            "400,attention,entropy,,2,1,0.375,share of log(keys)\n"
            "400,attention,logit_max,,2,,12.5,scaled logits\n"
            "800,attention,logit_max,,2,,0.1,scaled logits\n");
}

TEST(LookReport, JsonHasTheSameRowsAndWhatTheNumbersAre) {
  const Json json = look_json(two_layers());
  EXPECT_EQ(json.at("samples"), 256);
  EXPECT_EQ(json.at("numbers").at(0).at("unit"), "share of log(keys)");
  const Json& row = json.at("rows").at(3);
  EXPECT_EQ(row.at("step"), 400);
  EXPECT_EQ(row.at("layer"), 2);
  EXPECT_EQ(row.at("head"), 1);
  EXPECT_EQ(row.at("value"), 0.375);
  EXPECT_FALSE(json.at("rows").at(0).contains("head"));
}

}  // namespace
}  // namespace eureka
