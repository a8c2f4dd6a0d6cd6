// eureka report: a page, or a figure, or one clear message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "io/json.h"
#include "support/command.h"
#include "support/drawn_study.h"
#include "support/markup_check.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class ReportVerb : public testing::Test {
 protected:
  void SetUp() override {
    write_study(study(), {.points = {"train.lr=0.001", "train.lr=0.01"}});
    write_run(run(), {});
  }
  fs::path study() const { return directory_.path() / "study"; }
  fs::path run() const { return directory_.path() / "run"; }
  std::string out(const std::string& name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
};

TEST_F(ReportVerb, WritesOneFileAndSaysWhere) {
  const CommandResult result = eureka_command({"report", study().string(), run().string(), "-o", out("r.html")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, out("r.html") + "\n");
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(read_file(out("r.html")), HasSubstr("</html>"));
}

TEST_F(ReportVerb, WritesEveryFigureInEveryFormat) {
  for (const fs::path& place : {study(), run()}) {
    const CommandResult list = eureka_command({"report", place.string(), "--figure", "list"});
    ASSERT_EQ(list.exit_code, 0) << list.err;
    std::istringstream lines(list.out);
    std::size_t figures = 0;
    for (std::string line; std::getline(lines, line); ++figures) {
      const std::string name = line.substr(0, line.find(' '));
      for (const auto& [end, begin] : std::vector<std::pair<std::string, std::string>>{
               {".svg", "<?xml"}, {".png", "\x89PNG"}, {".pdf", "%PDF"}, {".csv", ""}}) {
        const std::string file = out(name + end);
        const CommandResult result = eureka_command({"report", place.string(), "--figure", name, "-o", file});
        ASSERT_EQ(result.exit_code, 0) << name << ": " << result.err;
        EXPECT_TRUE(read_file(file).starts_with(begin)) << file;
        if (end == ".svg") {
          EXPECT_EQ(MarkupCheck(read_file(file)).problem(), "") << name;
        }
      }
    }
    EXPECT_GE(figures, 3U);
  }
}

TEST_F(ReportVerb, NamesFiguresByTheirSectionWhereThereAreSeveral) {
  const CommandResult list = eureka_command({"report", study().string(), run().string(), "--figure", "list"});
  EXPECT_THAT(list.out, HasSubstr("run/curve "));
  EXPECT_THAT(list.out, HasSubstr("study/survival-1 "));
}

TEST_F(ReportVerb, RefusesWrongInputWithOneClearMessage) {
  const auto refused = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), "report");
    const CommandResult result = eureka_command(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(result.out, "");
  };
  refused({}, "sources");
  refused({out("nowhere")}, "there is no such file or directory");
  refused({directory_.path().string(), "--figur", "x"}, "did you mean '--figure'?");
  refused({run().string(), "--figure", "curv", "-o", out("x.svg")}, "did you mean 'curve'?");
  refused({run().string(), "--figure", "curve", "-o", out("x.gif")}, ".svg, .png or .pdf");
  refused({run().string(), "-o", out("no/such/folder/r.html")}, "no/such/folder");
  write_text(out("other.json"), Json{1, 2}.dump());
  refused({out("other.json")}, "neither a run nor a study");
}

TEST_F(ReportVerb, LeavesWhatItReadsAsItIs) {
  const auto before = fs::last_write_time(run());
  ASSERT_EQ(eureka_command({"report", run().string(), "-o", out("r.html")}).exit_code, 0);
  EXPECT_EQ(fs::last_write_time(run()), before);
}

}  // namespace
}  // namespace eureka
