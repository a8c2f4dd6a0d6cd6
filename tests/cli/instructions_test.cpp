// EUREKA_INSTRUCTIONS: what it accepts, where it is said, and that it changes no byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

CommandResult with_instructions(const std::string& name, const std::vector<std::string>& arguments) {
  ::setenv("EUREKA_INSTRUCTIONS", name.c_str(), 1);
  CommandResult result = eureka_command(arguments);
  ::unsetenv("EUREKA_INSTRUCTIONS");
  return result;
}

Json processor(const std::string& doctor) {
  const Json report = Json::parse(doctor);
  for (const Json& finding : report.at("findings"))
    if (finding.at("subject") == "processor") return finding;
  return {};
}

// "2 cores, using AVX2 of AVX2, SSE4, BASELINE"
std::vector<std::string> sets_of_this_machine() {
  const std::string text = processor(eureka_command({"doctor", "--json"}).out).at("text").get<std::string>();
  std::stringstream names(text.substr(text.find(" of ") + 4));
  std::vector<std::string> sets;
  for (std::string name; names >> name;) sets.push_back(name.substr(0, name.find_first_of(",:")));
  return sets;
}

TEST(Instructions, UnknownOnesAreRefusedWithThoseThatExist) {
  const CommandResult result = with_instructions("AVX1024", {"list"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("EUREKA_INSTRUCTIONS: there is no instruction set 'AVX1024'"));
  EXPECT_THAT(result.err, HasSubstr("this machine has " + sets_of_this_machine().front()));
}

TEST(Instructions, DoctorAndMetaSayWhichAreUsed) {
  const TemporaryDirectory directory;
  for (const std::string& set : sets_of_this_machine()) {
    EXPECT_THAT(processor(with_instructions(set, {"doctor", "--json"}).out).at("text").get<std::string>(),
                HasSubstr("using " + set));
    const std::string run = (directory.path() / set).string();
    const CommandResult result =
        with_instructions(set, {"train", "two-step", "--quiet", "--set", "train.steps=2", "--out", run});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(Json::parse(read_file(fs::path(run) / "meta.json")).at("instructions"), set);
  }
}

TEST(Instructions, MetaSaysWhichLibtorchUses) {
  EUREKA_NEEDS_TORCH();
  const TemporaryDirectory directory;
  const std::string run = (directory.path() / "reference").string();
  eureka_command(
      {"train", "two-step", "--quiet", "--set", "train.steps=2", "--set", "run.engine=reference", "--out", run});
  EXPECT_THAT(Json::parse(read_file(fs::path(run) / "meta.json")).at("instructions").get<std::string>(),
              HasSubstr("libtorch: "));
}

}  // namespace
}  // namespace eureka
