// Completion and manual pages, tried by the shells and the formatter themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class Completion : public testing::Test {
 protected:
  // Output and errors of a shell.
  std::string said(const std::string& shell, const std::string& script, int* status = nullptr) {
    const fs::path file = directory_.path() / "script", log = directory_.path() / "log";
    std::ofstream(file) << script;
    const int code =
        std::system((shell + " " + file.string() + " > " + log.string() + " 2>&1").c_str());  // NOLINT(cert-env33-c)
    if (status != nullptr) *status = code;
    return read_file(log);
  }
  static bool has(const char* program) {
    return std::system((std::string("command -v ") + program + " > /dev/null 2>&1").c_str()) == 0;
  }
  std::string written(const std::string& shell) {
    const fs::path file = directory_.path() / ("completion." + shell);
    std::ofstream(file) << eureka_command({"completion", shell}).out;
    return file.string();
  }
  // What bash offers behind these words, the last of which is being typed.
  std::string offered(const std::string& words) {
    return said("bash", "source " + written("bash") + "\nCOMP_WORDS=(" + words +
                            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_eureka\n"
                            "echo \" ${COMPREPLY[*]} \"\n");
  }

  TemporaryDirectory directory_;
};

TEST_F(Completion, OfBashOffersVerbsPartsOptionsAndValues) {
  EXPECT_EQ(offered("eureka bra"), " branch \n");
  EXPECT_EQ(offered("eureka data g"), " get \n");
  EXPECT_EQ(offered("eureka data get --fr"), " --from \n");
  EXPECT_EQ(offered("eureka detect --direction a"), " auto \n");
  EXPECT_THAT(offered("eureka train two"), testing::AllOf(HasSubstr(" two-step "), HasSubstr(" two-step-hard ")));
  EXPECT_THAT(offered("eureka study ''"), HasSubstr(" cures "));
  EXPECT_THAT(offered("eureka study ''"), Not(HasSubstr(" two-step "))) << "that is a run's";
  EXPECT_THAT(offered("eureka train two-step --set train.l"), HasSubstr(" train.lr= "));
  EXPECT_THAT(offered("eureka train --"), HasSubstr(" --resume "));
  EXPECT_THAT(offered("eureka train --"), Not(HasSubstr("--heartbeat"))) << "what is hidden stays so";
  EXPECT_EQ(offered("eureka train two-step --out x"), "  \n") << "a place: bash offers files by itself";
}

TEST_F(Completion, OfZshIsReadByZsh) {
  EXPECT_THAT(read_file(written("zsh")), testing::StartsWith("#compdef eureka\n"));
  if (!has("zsh")) GTEST_SKIP() << "zsh is not here: apt-get install zsh";
  int status = 1;
  const std::string text = said("zsh -n", read_file(written("zsh")), &status);
  EXPECT_EQ(status, 0) << text;
}

TEST_F(Completion, OfFishOffersWhatFishFinds) {
  EXPECT_THAT(read_file(written("fish")), HasSubstr("complete -c eureka"));
  if (!has("fish")) GTEST_SKIP() << "fish is not here: apt-get install fish";
  const std::string source = "source " + written("fish") + "\n";
  EXPECT_THAT(said("fish", source + "complete -C 'eureka tra'\n"), HasSubstr("train\t"));
  EXPECT_THAT(said("fish", source + "complete -C 'eureka data get --f'\n"), HasSubstr("--from\t"));
  EXPECT_THAT(said("fish", source + "complete -C 'eureka detect --direction '\n"), HasSubstr("down"));
}

TEST_F(Completion, AnotherShellIsNamedAsMissing) {
  const CommandResult result = eureka_command({"completion", "tcsh"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("fish"));
}

TEST_F(Completion, EveryVerbHasAPageThatTheFormatterReads) {
  const std::string out = (directory_.path() / "man").string();
  ASSERT_EQ(eureka_command({"man", "--out", out}).exit_code, 0);
  std::size_t pages = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(out)) {
    ++pages;
    const std::string text = read_file(entry.path());
    EXPECT_THAT(text, testing::StartsWith(".TH ")) << entry.path();
    if (!has("groff")) continue;
    EXPECT_EQ(said("groff -man -Tutf8 -ww -z", text), "") << entry.path();
  }
  EXPECT_GE(pages, 24U);
  EXPECT_EQ(eureka_command({"man", "data", "get"}).out, read_file(out + "/eureka-data-get.1"));
  EXPECT_THAT(eureka_command({"man", "train"}).out, HasSubstr("\\fB\\-\\-resume\\fR"));
  EXPECT_THAT(eureka_command({"man", "trian"}).err, HasSubstr("did you mean 'eureka-train'?"));
}

}  // namespace
}  // namespace eureka
