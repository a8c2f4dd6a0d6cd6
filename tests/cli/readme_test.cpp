// The blocks of commands in the README and in all of docs/ work when they are pasted one after the other, those of a
// page in one fresh directory.
//
// Blocks are told by what stands behind their fence, which no reader sees: ```sh are commands, ```console what a
// terminal showed, commands behind "$ ". A second word says what they need that a test has not: gpu, network, a
// cluster, files of the reader's own, the source folder (make), or a quarter of an hour (slow).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/command.h"

namespace eureka {
namespace {

struct Block {
  std::string fence;  // "sh", "console slow", nothing
  std::string text;
};

std::vector<Block> blocks_of(const std::string& document) {
  std::vector<Block> blocks;
  std::istringstream lines(document);
  bool inside = false;
  Block block;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("```")) {
      if (inside) block.text += line + "\n";
      continue;
    }
    if (inside)
      blocks.push_back(std::move(block));
    else
      block = {line.substr(3), ""};
    inside = !inside;
  }
  return blocks;
}

// Of what a terminal showed, what was typed.
std::string typed(const std::string& text) {
  std::string commands;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("$ ")) commands += line.substr(2) + "\n";
  return commands;
}

std::vector<std::string> command_blocks(const std::string& document) {
  std::vector<std::string> commands;
  for (const Block& block : blocks_of(document)) {
    if (block.fence == "sh") commands.push_back(block.text);
    if (block.fence == "console") commands.push_back(typed(block.text));
  }
  return commands;
}

// Stands where the program is expected and passes on to it. What takes minutes is cut short unless EUREKA_TEST_IN_FULL
// is set; what needs a network is left out unless EUREKA_TEST_NETWORK is: then the image lines run on the real data.
// With sanitizers runs whose moment nobody asks for learn from few samples. trace is what causes-stuck takes weights
// from, so both keep their length. A server is ended as soon as it answers.
constexpr const char* kShortened = R"(#!/bin/sh
case "$1 $2" in
  "data get") [ -n "$EUREKA_TEST_NETWORK" ] || exit 0 ;;
  "serve "*)
    rm -f address
    "$EUREKA_TEST_PROGRAM" serve "$2" --port 0 > address &
    until grep -q http address 2> /dev/null; do kill -0 $! || exit 1; sleep 0.1; done
    kill $! && wait $!
    exit ;;
esac
few="--set train.batch=4 --set train.validation_samples=40"
[ -n "$EUREKA_TEST_IN_FULL" ] || case "$*" in
  "study rescue"*|"study trace "*|"study causes-stuck "*) set -- "$@" --seeds 2 ;;
  "study "*--seeds*|"study --out "*) set -- "$@" --set train.steps=40 $few ;;
  "study "*) set -- "$@" --seeds 1 --set train.steps=40 $few ;;
  "train image-"*) set -- "$@" --set train.steps=40 ;;
  "train language"*|"train masked-language"*|*"task.pairs=256"*) set -- "$@" --set train.steps=4 $few ;;
  "train two-step --"*"-seed"*|"train two-step --seed"*|"train two-step --out runs/a"|"train two-step-hard --seed"*) ;;
  "train "*) [ "$EUREKA_TEST_PATIENCE" = 1 ] || set -- "$@" --set train.batch=4 --set train.validation_samples=50 ;;
esac
case "$1 $2" in
  "train image-"*|"study image-"*|"study "*"-image"|"study position-"*)
    [ -n "$EUREKA_TEST_NETWORK" ] || set -- "$@" --set task.data=glyphs ;;
  "data show") case "$*" in
      *language*|*recall*|*copy*) ;;
      *) [ -n "$EUREKA_TEST_NETWORK" ] || set -- "$@" --set task.data=glyphs ;;
    esac ;;
esac
exec "$EUREKA_TEST_PROGRAM" "$@"
)";

void expect_commands_work(const fs::path& document) {
  const TemporaryDirectory directory;
  const fs::path program = directory.path() / "build" / "eureka";
  fs::create_directories(program.parent_path());
  std::ofstream(program) << kShortened;
  fs::permissions(program, fs::perms::owner_all);
  ::setenv("EUREKA_TEST_PROGRAM", EUREKA_PROGRAM, 1);
  ::setenv("EUREKA_TEST_PATIENCE", fmt::format("{}", EUREKA_PATIENCE).c_str(), 1);
  ::setenv("EUREKA_DATA_DIR", (directory.path() / "data").c_str(), 1);
  for (const std::string& block : command_blocks(read_file(document))) {
    const fs::path script = directory.path() / "block.sh", log = directory.path() / "log";
    std::ofstream(script) << block;
    const int status = std::system(fmt::format("cd {} && PATH=$PWD/build:$PATH sh -ex {} > {} 2>&1",
                                               directory.path().string(), script.string(), log.string())
                                       .c_str());
    ASSERT_EQ(status, 0) << document << "\n" << block << "\n" << read_file(log);
  }
}

const fs::path kRoot = fs::path(EUREKA_README).parent_path();

std::vector<std::string> pages() {
  std::vector<std::string> names = {"README.md"};
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") names.push_back("docs/" + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Documents : public testing::TestWithParam<std::string> {};

TEST_P(Documents, CommandsWorkInOrder) {
  if (command_blocks(read_file(kRoot / GetParam())).empty()) GTEST_SKIP() << "a page without commands";
  expect_commands_work(kRoot / GetParam());
}

// Else a block would escape by being marked in a way that nobody knows, or not at all.
TEST_P(Documents, BlocksOfCommandsAreMarked) {
  const std::vector<std::string> known = {"",        "sh",         "console",    "sh make", "sh gpu",       "sh files",
                                          "sh slow", "sh network", "sh cluster", "yaml",    "console slow", "toml",
                                          "cpp",     "json",       "python"};
  for (const Block& block : blocks_of(read_file(kRoot / GetParam()))) {
    EXPECT_NE(std::find(known.begin(), known.end(), block.fence), known.end()) << block.fence << "\n" << block.text;
    if (block.fence.starts_with("sh") || block.fence.starts_with("console")) continue;
    std::istringstream lines(block.text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_FALSE(line.starts_with("build/eureka ") || line.starts_with("eureka ") || line.starts_with("$ ") ||
                   line.starts_with("make "))
          << "is this a command? " << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Documents, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem().string();
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

TEST(Documents, TheReadmeHasItsBlocks) {
  EXPECT_GE(command_blocks(read_file(EUREKA_README)).size(), 9U) << "the blocks are no longer recognized";
}

}  // namespace
}  // namespace eureka
