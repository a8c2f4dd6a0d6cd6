// What lies in the tree can be read; what a link or a pipe leads to cannot.
#include "serve/served_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "support/drawn_study.h"
#include "support/temporary_directory.h"

namespace eureka::serve {
namespace {

class Tree : public testing::Test {
 protected:
  void SetUp() override {
    write_text(outside_.path() / "secret.toml", "secret");
    write_text(inside_.path() / "a" / "b" / "meta.json", "{}");
  }
  fs::path at(const std::string& name) const { return inside_.path() / name; }

  TemporaryDirectory inside_, outside_;
};

TEST_F(Tree, OpensDirectoriesByTheirIds) {
  const ServedTree tree(inside_.path());
  EXPECT_TRUE(tree.open("."));
  EXPECT_TRUE(tree.open("a/b"));
  EXPECT_EQ(tree.open("a/b")->read("meta.json", 100), "{}");
  for (const char* id : {"", "..", "a/..", "a/../a/b", "/", "/tmp", "a//b", "nowhere", "a/b/meta.json", "a/b/nowhere"})
    EXPECT_FALSE(tree.open(id)) << id;
}

TEST_F(Tree, FollowsNoLink) {
  fs::create_directory_symlink(outside_.path(), at("out"));
  fs::create_directory_symlink("..", at("a/up"));
  fs::create_directory_symlink(at("a/b"), at("a/inner"));
  fs::create_symlink(outside_.path() / "secret.toml", at("a/b/config.toml"));
  const ServedTree tree(inside_.path());
  for (const char* id : {"out", "a/up", "a/inner", "a/up/a"}) EXPECT_FALSE(tree.open(id)) << id;
  const auto run = tree.open("a/b");
  EXPECT_FALSE(run->stamp("config.toml").exists);
  EXPECT_FALSE(run->open("config.toml"));
  EXPECT_FALSE(run->read("config.toml", 100));
  EXPECT_EQ(run->link_among({"meta.json", "config.toml"}), "config.toml");
  EXPECT_EQ(tree.open(".")->children(100).links, 1U);
  EXPECT_THAT(tree.open(".")->children(100).names, testing::ElementsAre("a"));
}

TEST_F(Tree, OpensRegularFilesOnly) {
  ASSERT_EQ(::mkfifo(at("a/b/metrics.jsonl").c_str(), 0600), 0);
  fs::create_directory(at("a/b/summary.json"));
  const auto run = ServedTree(inside_.path()).open("a/b");
  // A pipe that nobody writes to would wait for ever.
  EXPECT_FALSE(run->open("metrics.jsonl"));
  EXPECT_FALSE(run->open("summary.json"));
  EXPECT_FALSE(run->stamp("summary.json").exists);
}

TEST_F(Tree, RefusesAFileThatIsTooLarge) {
  const auto run = ServedTree(inside_.path()).open("a/b");
  EXPECT_THROW(run->read("meta.json", 1), Error);
}

TEST_F(Tree, NamesThatFitNoIdAreCounted) {
  fs::create_directory(at("with space"));
  fs::create_directory(at(".hidden"));
  const auto children = ServedTree(inside_.path()).open(".")->children(100);
  EXPECT_EQ(children.unfit, 1U);
  EXPECT_THAT(children.names, testing::ElementsAre("a"));
}

TEST_F(Tree, MustBeADirectory) {
  EXPECT_THROW(ServedTree(at("nowhere")), Error);
  EXPECT_THROW(ServedTree(at("a/b/meta.json")), Error);
}

}  // namespace
}  // namespace eureka::serve
