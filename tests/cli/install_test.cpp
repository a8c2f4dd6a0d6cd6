// make install: a program that runs from where it was put, with its pages and completions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/command.h"

namespace eureka {
namespace {

class Installed : public testing::Test {
 protected:
  void SetUp() override {
    const std::string line = fmt::format("cmake --install {} --prefix {} --component program > {} 2>&1", EUREKA_BUILD,
                                         prefix().string(), log().string());
    ASSERT_EQ(std::system(line.c_str()), 0) << read_file(log());
  }
  fs::path prefix() const { return directory_.path() / "usr"; }
  fs::path log() const { return directory_.path() / "log"; }
  std::string output(const std::string& words) const {
    const int status = std::system(
        fmt::format("cd {} && ./usr/bin/eureka {} > {} 2>&1", directory_.path().string(), words, log().string())
            .c_str());
    EXPECT_EQ(status, 0) << read_file(log());
    return read_file(log());
  }

  TemporaryDirectory directory_;
};

TEST_F(Installed, TheProgramRunsWithoutItsBuildFolder) {
  EXPECT_EQ(output("--version"), eureka_command({"--version"}).out);
  EXPECT_THAT(output("train two-step --quiet --set train.steps=4 --set train.batch=2"),
              testing::HasSubstr("runs/two-step"));
}

TEST_F(Installed, WithoutTheLibraryOfTheReferenceEngineItSaysSo) {
  EXPECT_THAT(output("doctor"), testing::HasSubstr("libtorch     not here: no reference engine"));
  const int status =
      std::system(fmt::format("cd {} && ./usr/bin/eureka train two-step --set run.engine=reference > {} 2>&1",
                              directory_.path().string(), log().string())
                      .c_str());
  EXPECT_NE(status, 0);
  EXPECT_THAT(read_file(log()), testing::HasSubstr("libtorch"));
}

TEST_F(Installed, PagesAndCompletionsLieWhereTheyAreLookedFor) {
  for (const char* file : {"man/man1/eureka.1", "man/man1/eureka-train.1", "man/man1/eureka-data-get.1",
                           "bash-completion/completions/eureka", "zsh/vendor-completions/_eureka",
                           "fish/vendor_completions.d/eureka.fish", "doc/eureka/copyright"})
    EXPECT_TRUE(fs::exists(prefix() / "share" / file)) << file;
  EXPECT_EQ(read_file(prefix() / "share/bash-completion/completions/eureka"),
            eureka_command({"completion", "bash"}).out);
}

}  // namespace
}  // namespace eureka
