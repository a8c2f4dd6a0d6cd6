// Streams that cannot be written to, and text that a terminal would obey.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class Streams : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = directory_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string read(const std::string& name) const { return read_file(directory_.path() / name); }
  std::string place(const std::string& name) const { return (directory_.path() / name).string(); }

  // The exit code of a shell line; eureka is the program.
  int shell(const std::string& line) const {
    const std::string script =
        "cd " + directory_.path().string() + "; eureka() { " EUREKA_PROGRAM " \"$@\"; }; " + line;
    const int status = std::system(("sh -c '" + script + "'").c_str());
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  TemporaryDirectory directory_;
};

constexpr const char* kShortRun = "eureka train two-step --set train.steps=20 --set train.eval_every=10 --out ";

TEST_F(Streams, MessagesThatCannotBePrintedAreDropped) {
  EXPECT_EQ(shell("eureka trian 2>/dev/full"), 2);
  EXPECT_EQ(shell("eureka trian 2>&-"), 2);
  EXPECT_EQ(shell(kShortRun + std::string("a >out 2>/dev/full")), 0);
  EXPECT_EQ(shell(kShortRun + std::string("b >out 2>&-")), 0);
  EXPECT_THAT(read("out"), HasSubstr("finished after 20 steps"));
  write("s.toml", "[study]\nbase = \"two-step\"\nseeds = 1\nbudget = 10\n[[arm]]\nname = \"a\"\n");
  for (const std::string progress : {"table", "json"})
    EXPECT_EQ(shell("eureka study s.toml --progress " + progress + " --out s-" + progress + " >out 2>/dev/full"), 0);
}

TEST_F(Streams, ResultsThatCannotBeWrittenAreAFailureWithASentence) {
  write("log.csv", "step,val_accuracy\n1,0.5\n2,0.6\n");
  for (const std::string line : {"detect log.csv --json", "detect log.csv", "list", "list --json", "--help",
                                 "--version", "data list", "train two-step --quiet --set train.steps=5 --out run"}) {
    EXPECT_EQ(shell("eureka " + line + " >/dev/full 2>err"), 1) << line;
    EXPECT_EQ(read("err"), "eureka: standard output: the results cannot be written: No space left on device\n") << line;
  }
  EXPECT_EQ(shell("eureka list >/dev/full 2>/dev/full"), 1);
  EXPECT_EQ(shell("eureka detect log.csv --json >&- 2>err"), 1);
  EXPECT_EQ(read("err"), "eureka: standard output: the results cannot be written: Bad file descriptor\n");
}

TEST_F(Streams, ThatAreClosedStayOutOfOurFiles) {
  EXPECT_EQ(shell(kShortRun + std::string("open >/dev/null 2>/dev/null </dev/null")), 0);
  EXPECT_EQ(shell(kShortRun + std::string("closed <&- >&- 2>&-")), 1);
  for (const char* name : {"events.jsonl", "metrics.jsonl", "config.toml", "summary.json"})
    EXPECT_EQ(read("closed/" + std::string(name)), read("open/" + std::string(name))) << name;
}

TEST_F(Streams, OutputNeverHoldsWhatATerminalWouldObey) {
  const std::string hostile = "\x1b[2J\r\x7f\u202e\u009b";
  const std::string in_toml = "\\u001b[2J\\r\\u007f\\u202e\\u009b";
  const auto expect_clean = [](const std::string& text, const std::string& shown) {
    EXPECT_THAT(text, HasSubstr(shown));
    for (const char* part : {"\x1b", "\r", "\x7f", "\u202e", "\u009b", "\xff"})
      EXPECT_THAT(text, Not(HasSubstr(part))) << text;
  };
  const auto both = [](const std::vector<std::string>& words) {
    const CommandResult result = eureka_command(words);
    return result.out + result.err;
  };
  expect_clean(both({"detect", write("log.csv", "step,\"acc" + hostile + "\"\n1,0.5\n2,0.6\n").string()}),
               "acc\\u001b[2J\\r\\u007f\\u202e\\u009b by step");
  expect_clean(both({"detect", write("log.jsonl", "{\"step\": 1, \"" + in_toml + "\": 1, \"b\": 2}\n").string()}),
               "\\u001b[2J");
  expect_clean(both({"detect", write("bad.jsonl", "{\"step\": 1, \"a\": \xff}\n").string()}), "bad.jsonl:1:");
  expect_clean(both({"detect", write("x.csv", "step,acc\n1," + hostile + "\n").string()}), "x.csv");
  expect_clean(both({"detect", place("none" + hostile + "\xff")}), "none\\u001b[2J\\r\\u007f\\u202e\\u009b\\xff");
  expect_clean(both({"tr" + hostile}), "there is no verb 'tr\\u001b[2J");
  expect_clean(both({"train", "two-step", "--set", "run.device=" + hostile, "--out", place("run")}), "\\u001b[2J");
  fs::permissions(write("npm", "#!/bin/sh\necho \"npm ERR! " + hostile + "\" >&2; exit 1\n"), fs::perms::owner_all);
  EXPECT_EQ(shell("PATH=$PWD:$PATH EUREKA_DATA_DIR=data eureka data get mnist >out 2>err"), 1);
  expect_clean(read("out") + read("err"), "npm ERR! \\u001b[2J");
  const std::string study =
      "[study]\nquestion = \"why" + in_toml + "?\"\nbase = \"two-step\"\nseeds = 1\nbudget = 10\n";
  const std::string arm = "[[arm]]\nname = \"größe\"\n";
  const fs::path file = write("s.toml", study + arm);
  const std::string text = both({"study", file.string(), "--out", place("s")});
  expect_clean(text, "why\\u001b[2J\\r\\u007f\\u202e\\u009b?");
  EXPECT_THAT(text, HasSubstr("größe"));
  EXPECT_THAT(text, HasSubstr("┤")) << "our own drawing stays";
  EXPECT_EQ(eureka_command({"study", "--out", place("s"), "--resume"}).exit_code, 0) << "its study.toml is readable";
  expect_clean(eureka_command({"study", "--out", place("s"), "--resume", "--json"}).out,
               "why\\u001b[2J\\r\\u007f\\u202e");
}

TEST_F(Streams, LinksInARunDirectoryAreRefused) {
  const fs::path victim = write("victim", "precious");
  for (const char* name : {".lock", "events.jsonl", "metrics.jsonl"}) {
    fs::create_directories(place("run"));
    fs::create_symlink(victim, fs::path(place("run")) / name);
    const CommandResult result =
        eureka_command({"train", "two-step", "--set", "train.steps=5", "--out", place("run"), "--resume"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("symbolic link")) << name;
    EXPECT_EQ(read("victim"), "precious") << name;
    fs::remove_all(place("run"));
  }
  EXPECT_EQ(
      eureka_command({"train", "two-step", "--quiet", "--set", "train.steps=5", "--out", place("run"), "--resume"})
          .exit_code,
      0);
}

TEST_F(Streams, LinksForTheDirectoriesOfTrialsAreRefused) {
  const fs::path file = write("s.toml", "[study]\nbase = \"two-step\"\nseeds = 1\nbudget = 5\n[[arm]]\nname = \"a\"\n");
  fs::create_directories(place("elsewhere"));
  for (const char* name : {"a", "a/seed-1"}) {
    const fs::path link = fs::path(place("s")) / name;
    fs::create_directories(link.parent_path());
    fs::create_directory_symlink(place("elsewhere"), link);
    const CommandResult result = eureka_command({"study", file.string(), "--out", place("s"), "--resume"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("symbolic link")) << name;
    EXPECT_TRUE(fs::is_empty(place("elsewhere"))) << name;
    fs::remove_all(place("s"));
  }
}

}  // namespace
}  // namespace eureka
