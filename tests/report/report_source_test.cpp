// Directories become pages, whatever state they are in.
#include "report/report_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "io/json.h"
#include "io/toml.h"
#include "report/run_data.h"
#include "report/sections.h"
#include "report/study_data.h"
#include "support/drawn_study.h"
#include "support/markup_check.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Report : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return directory_.path() / name; }
  std::string page(const std::vector<fs::path>& places, const PageBundle& bundle = {}) const {
    return page_html(read_sections(places, catalog_), bundle);
  }
  // What the script of a page gets.
  static Json embedded(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"eureka-data\">";
    const std::size_t at = page.find(begin) + begin.size();
    return Json::parse(page.substr(at, page.find("</script>", at) - at));
  }
  std::vector<std::string> names(const fs::path& place) const {
    std::vector<std::string> found;
    for (const PageSection& section : read_sections({place}, catalog_))
      for (const PageBlock& block : section.blocks)
        if (block.figure) found.push_back(block.figure->name);
    return found;
  }
  std::vector<std::string> problems(const std::string& run) const { return read_run(at(run), {}).problems; }

  // The body of the page, whose rules are those of XML but for the head.
  static std::string body(const std::string& page) {
    return page.substr(page.find("<body>")).substr(0, page.rfind("</html>") - page.find("<body>"));
  }

  TemporaryDirectory directory_;
  Catalog catalog_{"[]"};
};

TEST_F(Report, OfARunShowsCurveLossAndDiagnostics) {
  write_run(at("run"), {});
  EXPECT_THAT(names(at("run")), testing::ElementsAre("curve", "loss", "diagnostic-attention"));
  const std::string text = page({at("run")});
  EXPECT_EQ(MarkupCheck(body(text)).problem(), "");
  for (const char* part :
       {"Eureka-moment at step 500", "eureka train", "download=\"run-curve.svg\"", "download=\"run-curve.csv\"",
        "prefers-color-scheme:dark", "@media print", "Content-Security-Policy", "rule = &quot;softmax&quot;"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("What is missing here")));
}

TEST_F(Report, TellsWhatRanItWhenAndWhere) {
  write_run(at("run"), {});
  Json meta = Json::parse(read_file(at("run/meta.json")));
  meta["commit"] = "0123abc", meta["command"] = "/home/me/bin/eureka train two-step";
  meta["started"] = "2026-11-18T20:15:00Z", meta["processor"] = "A Processor";
  write_text(at("run/meta.json"), meta.dump());
  const std::string text = page({at("run")});
  for (const char* part : {"0.1.0 (0123abc)", ">eureka train two-step<", "2026-11-18T20:15:00Z", "A Processor"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("/home/me")));
}

// Twelve lines of four parts in one panel could not be told apart.
TEST_F(Report, PartsThatAreToldHeadByHeadHaveAPanelEach) {
  write_run(at("run"), {});
  std::string rows;
  for (int step = 0; step <= 100; step += 25) {
    rows += fmt::format("{{\"step\":{},\"val_accuracy\":0.5", step);
    for (const char* part : {"k", "q", "v", "o"})
      for (const char* head : {"", "/head0", "/head1"})
        rows += fmt::format(",\"gradients/norm/{}/layer0{}\":0.5", part, head);
    rows += ",\"gradients/norm/mlp/layer0\":0.1}\n";
  }
  write_text(at("run/metrics.jsonl"), rows);
  const Json data = embedded(page({at("run")}, {"let page;", "", "sha256-abc="}));
  const Json& panels = data.at("figures").back().at("data").at("panels");
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < panels.size(); ++i) titles.push_back(panels.at(i).at("title").get<std::string>());
  EXPECT_THAT(titles, Contains(testing::StartsWith("norm, q, layer0 (")));
  ASSERT_EQ(panels.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(panels.at(i).at("curves").size(), 3U);
  EXPECT_EQ(panels.at(0).at("curves").at(1).at("name").get<std::string>(), "head0");
}

TEST_F(Report, OfAStudyShowsEveryFigureWithItsTitleAndData) {
  write_study(at("study"), {});
  EXPECT_THAT(names(at("study")), testing::ElementsAre("speedup", "survival", "curves", "aligned", "seeds"));
  for (const PageSection& section : read_sections({at("study")}, catalog_))
    for (const PageBlock& block : section.blocks) {
      if (!block.figure) continue;
      EXPECT_TRUE(block.figure->title.find('?') != std::string::npos) << block.figure->title;
      EXPECT_GT(std::count(block.figure->csv.begin(), block.figure->csv.end(), '\n'), 1) << block.figure->name;
      EXPECT_GT(block.figure->draw(figure::Titled::yes).items.size(), 10U);
    }
}

TEST_F(Report, OfAStudyWithAxesHasHeatmapsAndEachPoint) {
  write_study(at("study"), {.points = {"train.lr=0.001", "train.lr=0.01"}});
  EXPECT_THAT(names(at("study")),
              testing::IsSupersetOf({"heatmap", "heatmap-rate", "survival-1", "survival-2", "curves-2"}));
  EXPECT_THAT(page({at("study")}), HasSubstr("What was found at train.lr=0.001?"));
}

TEST_F(Report, CountsTheRunsStillWaiting) {
  write_study(at("study"), {.seeds = 3});
  for (const PageSection& section : read_sections({at("study")}, catalog_))
    for (const PageBlock& block : section.blocks)
      if (block.figure && block.figure->name == "survival") {
        std::vector<std::string> texts;
        for (const figure::Item& item : block.figure->draw(figure::Titled::no).items)
          if (const auto* text = std::get_if<figure::Text>(&item)) texts.push_back(text->text);
        const auto rows = std::find(texts.begin(), texts.end(), "runs still waiting");
        ASSERT_NE(rows, texts.end());
        EXPECT_THAT(std::vector<std::string>(rows + 1, texts.end()),
                    testing::IsSupersetOf({"softmax", "cure", "3", "0"}));
      }
}

TEST_F(Report, IsLegibleWithOneThirteenAndFortyArms) {
  for (const std::size_t count : {1U, 13U, 40U}) {
    DrawnStudy study{.arms = {}, .seeds = 2, .every = 100};
    for (std::size_t i = 0; i < count; ++i) study.arms.push_back(fmt::format("arm-{}", i));
    const fs::path place = at(fmt::format("study-{}", count));
    write_study(place, study);
    const std::string text = page({place});
    EXPECT_EQ(MarkupCheck(body(text)).problem(), "") << count;
    for (const std::string& arm : study.arms) EXPECT_THAT(text, HasSubstr(">" + arm));
  }
}

// On one sheet forty panels were too small to be read.
TEST_F(Report, PartsFiguresThatAreTallerThanASheet) {
  DrawnStudy study{.arms = {}, .seeds = 1, .every = 100};
  for (std::size_t i = 0; i < 40; ++i) study.arms.push_back(fmt::format("arm-{}", i));
  write_study(at("study"), study);
  const std::string text = page({at("study")});
  EXPECT_THAT(text, HasSubstr("<div class=\"sheets\" aria-hidden=\"true\"><svg viewBox=\"0 0 "));
  EXPECT_THAT(text, HasSubstr("<use href=\"#study/survival/title/drawn\"/>"));
  EXPECT_THAT(text, HasSubstr("<g id=\"study/survival/title/drawn\">"));
  write_study(at("small"), {});
  EXPECT_THAT(page({at("small")}), Not(HasSubstr("class=\"sheets\"")));
}

TEST_F(Report, OfAStudyWithoutAnyMomentSaysSo) {
  write_study(at("study"), {.has_moments = false});
  // No speed-up is known: an empty forest plot would tell nothing.
  EXPECT_THAT(names(at("study")), testing::ElementsAre("survival", "curves", "seeds"));
  EXPECT_THAT(page({at("study")}), HasSubstr("0/4"));
}

TEST_F(Report, EscapesNamesEverywhere) {
  const std::string evil = "<script>alert(\"1\")</script> & 'b' \x1b[2J";
  write_study(at("study"), {.arms = {"softmax", evil}});
  write_text(at("study") / "study.toml", "[study]\nname = '<b>\"&'\n");
  write_run(at("<i>run & co\""), {});
  write_text(at("<i>run & co\"") / "config.toml", "x = '</pre><script>'\n");
  const std::string text = page({at("study"), at("<i>run & co\"")});
  EXPECT_EQ(MarkupCheck(body(text)).problem(), "");
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

constexpr PageBundle kBundle{"let page;", "b{color:red}", "sha256-abc="};

TEST_F(Report, LetsItsOwnScriptRunAndNoOther) {
  write_study(at("study"), {});
  const std::string text = page({at("study")}, kBundle);
  EXPECT_THAT(text, HasSubstr("<script>let page;</script>"));
  EXPECT_THAT(text, HasSubstr("img-src data:; script-src 'sha256-abc='\">"));
  EXPECT_THAT(text, HasSubstr("b{color:red}</style>"));
  EXPECT_THAT(page({at("study")}), Not(HasSubstr("script-src")));
}

TEST_F(Report, GivesItsScriptWhatIsDrawn) {
  write_study(at("study"), {.seeds = 3});
  const Json data = embedded(page({at("study")}, kBundle));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < data.at("figures").size(); ++i) {
    const Json& figure = data.at("figures").at(i);
    names.push_back(figure.at("name").get<std::string>());
    const bool is_chart = figure.at("data").at("kind").get<std::string>() == "chart";
    EXPECT_GT(figure.at("data").at(is_chart ? "panels" : "rows").size(), 0U);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("study/speedup", "study/survival", "study/curves", "study/aligned", "study/seeds"));
  const Json& curve = data.at("figures").at(2).at("data").at("panels").at(0).at("curves").at(0);
  EXPECT_EQ(curve.at("name").get<std::string>(), "softmax");
  EXPECT_EQ(curve.at("tone").at("color").get<std::string>(), "--ink");
  EXPECT_EQ(curve.at("x").size(), curve.at("y").size());
  EXPECT_EQ(curve.at("band").at("low").size(), curve.at("band").at("x").size());
  EXPECT_TRUE(data.at("figures").at(1).at("data").at("rows").get<bool>());
  const Json& arm = data.at("figures").at(0).at("data").at("rows").at(0);
  EXPECT_EQ(arm.at("name").get<std::string>(), "cure");
  EXPECT_EQ(arm.at("tone").at("color").get<std::string>(), "--series-0");
  EXPECT_TRUE(arm.contains("estimate") && arm.contains("low") && arm.contains("high") && arm.contains("text"));
}

TEST_F(Report, GivesItsScriptTheCellsOfAHeatmapWithTheirColors) {
  write_study(at("study"), {.points = {"train.lr=0.001", "train.lr=0.01"}});
  const Json data = embedded(page({at("study")}, kBundle));
  const Json& map = data.at("figures").at(0).at("data");
  EXPECT_EQ(map.at("kind").get<std::string>(), "heatmap");
  ASSERT_EQ(map.at("cells").size(), map.at("rows").size());
  ASSERT_EQ(map.at("cells").at(0).size(), 2U);
  EXPECT_EQ(map.at("columns").size(), 2U);
  for (const char* color : {"fill", "ink"})
    EXPECT_THAT(map.at("cells").at(0).at(0).at(color).get<std::string>(), testing::MatchesRegex("#[0-9a-f]+"));
}

// A formatter for C++ once took the hyphens apart, and every browser then left the rules out without a word.
TEST_F(Report, HasAStyleThatBrowsersCanRead) {
  write_run(at("run"), {});
  const std::string text = page({at("run")});
  const std::string style = text.substr(text.find("<style>"), text.find("</style>") - text.find("<style>"));
  EXPECT_THAT(style, HasSubstr("box-sizing:border-box"));
  EXPECT_THAT(style, HasSubstr("overflow-x:auto"));
  EXPECT_THAT(style, Not(HasSubstr(" - ")));
}

TEST_F(Report, FoldsTheVerdictsOfManyArmsAndTheNamesOfManyFigures) {
  DrawnStudy many{.arms = {}, .seeds = 2, .every = 100};
  for (int i = 0; i < 20; ++i) many.arms.push_back(fmt::format("arm-{}", i));
  write_study(at("many"), many);
  EXPECT_THAT(page({at("many")}), HasSubstr("<summary>Every verdict in words</summary>"));
  write_study(at("points"), {.points = {"lr=1", "lr=2", "lr=3", "lr=4"}});
  EXPECT_THAT(page({at("points")}), testing::ContainsRegex("<summary>[0-9]+ figures</summary>"));
  write_study(at("few"), {});
  EXPECT_THAT(page({at("few")}),
              testing::AllOf(Not(HasSubstr("in words</summary>")), Not(HasSubstr(" figures</summary>"))));
}

TEST(ConfigDifferences, LeaveOutTheOptionsOfAnotherChoice) {
  const ConfigEntries softmax = read_toml("[attention]\nrule = 'softmax'\n[train]\nlr = 0.1\nwarmup = 5\n", "a");
  const ConfigEntries qk = read_toml("[attention]\nrule = 'qk_norm'\nepsilon = 1e-6\n[train]\nlr = 0.1\n", "b");
  EXPECT_THAT(
      config_differences({&softmax, &qk}),
      testing::ElementsAre("", "attention.epsilon = 1e-06, attention.rule = \"qk_norm\", train.warmup is not set"));
  EXPECT_THAT(config_differences({&qk, &softmax})[1],
              testing::StartsWith("attention.rule = \"softmax\", train.warmup"));
}

TEST_F(Report, NamesDoNotEndTheElementThatHoldsTheData) {
  const std::string evil = "</script><script>alert(\"1\")</script> & 'b' \x1b[2J";
  write_study(at("study"), {.arms = {"softmax", evil}});
  const std::string text = page({at("study")}, kBundle);
  const Json data = embedded(text);
  EXPECT_EQ(data.at("figures").at(2).at("data").at("panels").at(0).at("curves").at(1).at("name").get<std::string>(),
            "</script><script>alert(\"1\")</script> & 'b' \\u001b[2J");
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
}

TEST_F(Report, ADrawingOfWhatIsNoNumberIsDataToo) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  figure::Chart chart;
  chart.panels.push_back({.x = {.label = "<x>", .low = none}, .y = {.label = "y", .is_logarithmic = true}});
  chart.panels[0].series.push_back({.name = "a", .tone = {}, .points = {{0, 1}, {1, none}, {2, 1e300}}});
  chart.panels[0].lines.push_back({.at = none});
  const Json panel = Json::parse(figure_data(chart)).at("panels").at(0);
  EXPECT_EQ(panel.at("curves").at(0).at("y").dump(), "[1,null,1e+300]");
  EXPECT_EQ(panel.at("x").dump(), "{\"label\":\"<x>\"}");
  EXPECT_EQ(panel.at("lines").size(), 0U);
}

TEST_F(Report, OfADamagedRunSaysWhatIsMissing) {
  write_run(at("run"), {});
  write_text(at("run") / "metrics.jsonl",
             "{\"step\":0,\"val_accuracy\":0.1}\n{\"step\":25,\"val_accuracy\":null}\nrubbish\n{\"step\":25,\"val_"
             "accuracy\":0.3}\n{\"step\":50,\"val_accuracy\":0.5}\n{\"step\":75,\"val_acc");
  fs::remove(at("run") / "summary.json");
  write_text(at("run") / "meta.json", "{\"format\": 99, \"version\": \"9.0\"}");
  fs::remove(at("run") / "config.toml");
  const std::string all = fmt::format("{}", testing::PrintToString(problems("run")));
  for (const char* part : {"summary.json is missing", "meta.json cannot be read", "format 99", "config.toml is missing",
                           "torn", "1 line of metrics.jsonl cannot be read", "line 3", "went back", "val_accuracy (1)"})
    EXPECT_THAT(all, HasSubstr(part));
  const std::string text = page({at("run")});
  EXPECT_EQ(MarkupCheck(body(text)).problem(), "");
  EXPECT_THAT(text, HasSubstr("What is missing here"));
}

TEST_F(Report, OfARunWithoutAnyRowsStillOpens) {
  write_text(at("run") / "metrics.jsonl", "");
  EXPECT_THAT(page({at("run")}), HasSubstr("no rows yet"));
  EXPECT_TRUE(names(at("run")).empty());
}

TEST_F(Report, OfADamagedStudyShowsItsRuns) {
  write_study(at("study"), {});
  fs::remove(at("study") / "arm0" / "seed-1" / "metrics.jsonl");
  EXPECT_THAT(page({at("study")}), HasSubstr("arm0/seed-1: metrics.jsonl is missing"));
  write_text(at("study") / "study.json", "{ torn");
  const std::string text = page({at("study")});
  EXPECT_THAT(text, HasSubstr("the statistics cannot be told"));
  EXPECT_THAT(names(at("study")), Contains("curves"));
}

TEST_F(Report, OfAStudyOfANewerFormatSaysWhichProgramToUse) {
  write_study(at("study"), {});
  write_text(at("study") / "study.json", "{\"format\": \"eureka-study-7\"}");
  EXPECT_THAT(page({at("study")}), HasSubstr("eureka-study-7"));
}

TEST_F(Report, OfAnEmptyStudyStillOpens) {
  write_text(at("study") / "study.toml", "");
  const std::string text = page({at("study")});
  EXPECT_THAT(text, HasSubstr("there is no run yet"));
  EXPECT_TRUE(names(at("study")).empty()) << "a survival curve of no run";
  EXPECT_EQ(MarkupCheck(body(text)).problem(), "");
}

TEST_F(Report, DoesNotLeaveTheStudy) {
  write_study(at("study"), {});
  std::string json = read_file(at("study") / "study.json");
  json.replace(json.find("arm0/seed-1"), 11, "../../../etc");
  write_text(at("study") / "study.json", json);
  EXPECT_THAT(page({at("study")}), HasSubstr("lies outside of the study"));
}

TEST_F(Report, OfTwoHundredRunsStaysUnderTenMegabytes) {
  DrawnStudy study{.arms = {}, .seeds = 20, .every = 1};
  for (int i = 0; i < 10; ++i) study.arms.push_back(fmt::format("arm-{}", i));
  write_study(at("study"), study);
  EXPECT_LT(page({at("study")}).size(), 10U << 20);
}

TEST_F(Report, OfSeveralRunsComparesThemFirst) {
  write_run(at("runs/a"), {.rule = "softmax"});
  write_run(at("runs/b"), {.moment = 300, .rule = "qk_norm"});
  const std::string text = page({at("runs")});
  EXPECT_THAT(text, HasSubstr("2 runs side by side"));
  EXPECT_THAT(text, HasSubstr("attention.rule = &quot;qk_norm&quot;"));
  EXPECT_LT(text.find("side by side"), text.find("Run a"));
}

TEST_F(Report, RefusesAPlaceThatHoldsNothing) {
  fs::create_directories(at("empty"));
  EXPECT_THROW(page({at("empty")}), Error);
  EXPECT_THROW(page({at("nowhere")}), Error);
}

TEST_F(Report, OfConditioningSetsMeasurementAgainstTheory) {
  write_text(
      at("rates.json"),
      R"({"tests": "a law <b>", "rows": [{"case": "a", "predicted": 0.1, "measured": 0.11}, {"case": "b", "predicted": 0.01, "measured": null}], "laws": [{"law": "x", "ok": 1}], "command": "/home/me/eureka condition rates", "eureka": "0.1.0"})");
  EXPECT_THAT(page({at("rates.json")}), HasSubstr("<code>eureka condition rates"));
  EXPECT_THAT(names(at("rates.json")), testing::ElementsAre("theory-rate"));
  EXPECT_EQ(MarkupCheck(body(page({at("rates.json")}))).problem(), "");
}

TEST(RunGroup, TakesMedianAndQuartilesAndCarriesEndedRunsOn) {
  std::vector<RunData> runs(4);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].metric = "m";
    runs[i].curves = {{"m", {{0, 0}, {10, static_cast<double>(i)}}}};
  }
  runs[3].curves[0].points.push_back({20, 9});
  RunGroup group{"g", {}};
  for (const RunData& run : runs) group.runs.push_back(&run);
  const GroupCurve curve = group_curve(group, GroupBy::step);
  ASSERT_EQ(curve.median.size(), 3U);
  EXPECT_EQ(curve.median[1].y, 1.5);
  EXPECT_EQ(curve.quartiles[1].low, 0.75);
  EXPECT_EQ(curve.median[2].y, 1.5);
  EXPECT_EQ(group_curve(group, GroupBy::own_moment).runs, 0U);
}

}  // namespace
}  // namespace eureka
