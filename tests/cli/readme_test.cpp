// The blocks of commands in the README and in some documents work when they are pasted one after the other in a fresh
// directory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/command.h"

namespace eureka {
namespace {

// The text between ``` and ```, of the blocks that run the program.
std::vector<std::string> command_blocks(const std::string& document) {
  std::vector<std::string> blocks;
  std::istringstream lines(document);
  bool inside = false;
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("```")) {
      block += line + "\n";
      continue;
    }
    if (inside && block.find("build/eureka ") != std::string::npos) blocks.push_back(block);
    block.clear();
    inside = !inside;
  }
  return blocks;
}

// Stands where the program is expected and passes on to it. What takes minutes is cut short, and what needs a network
// is left out, unless EUREKA_TEST_NETWORK is set: then the image lines run on the real data. A server is ended as soon
// as it answers. With sanitizers runs whose moment nobody asks for, and whose name no later line knows, learn from few
// samples.
constexpr const char* kShortened = R"(#!/bin/sh
case "$*" in
  "data get"*) [ -n "$EUREKA_TEST_NETWORK" ] || exit 0 ;;
  "study rescue"*) set -- "$@" --seeds 2 ;;
  "study "*) set -- "$@" --seeds 1 --set train.steps=40 ;;
  "train image-"*) set -- "$@" --set train.steps=40 ;;
  "train two-step --seed"*) ;;
  "serve "*)
    "$EUREKA_TEST_PROGRAM" "$@" --port 0 > address &
    until grep -q http address; do kill -0 $! || exit 1; sleep 0.1; done
    kill $! && wait $!
    exit ;;
  "train "*) [ "$EUREKA_TEST_PATIENCE" = 1 ] || set -- "$@" --set train.batch=4 --set train.validation_samples=50 ;;
esac
case "$2" in
  image-*) [ -n "$EUREKA_TEST_NETWORK" ] || set -- "$@" --set task.data=glyphs ;;
esac
exec "$EUREKA_TEST_PROGRAM" "$@"
)";

void expect_commands_work(const fs::path& document) {
  const std::vector<std::string> blocks = command_blocks(read_file(document));
  ASSERT_GE(blocks.size(), 6U) << "the blocks are no longer recognized";
  const TemporaryDirectory directory;
  const fs::path program = directory.path() / "build" / "eureka";
  fs::create_directories(program.parent_path());
  std::ofstream(program) << kShortened;
  fs::permissions(program, fs::perms::owner_all);
  ::setenv("EUREKA_TEST_PROGRAM", EUREKA_PROGRAM, 1);
  ::setenv("EUREKA_TEST_PATIENCE", fmt::format("{}", EUREKA_PATIENCE).c_str(), 1);
  ::setenv("EUREKA_DATA_DIR", (directory.path() / "data").c_str(), 1);
  for (const std::string& block : blocks) {
    const fs::path script = directory.path() / "block.sh", log = directory.path() / "log";
    std::ofstream(script) << block;
    const int status = std::system(
        fmt::format("cd {} && sh -ex {} > {} 2>&1", directory.path().string(), script.string(), log.string()).c_str());
    ASSERT_EQ(status, 0) << block << "\n" << read_file(log);
  }
}

TEST(Readme, EveryBlockOfCommandsWorksInOrder) { expect_commands_work(EUREKA_README); }

TEST(Readme, SoDoThoseOfTheInterventions) {
  expect_commands_work(fs::path(EUREKA_README).parent_path() / "docs" / "interventions.md");
}

}  // namespace
}  // namespace eureka
