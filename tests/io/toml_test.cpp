#include "io/toml.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

TEST(Toml, FlattensTablesAndKeepsPlaces) {
  const ConfigEntries entries = read_toml("[train]\nsteps = 10\n[attention.scale]\nkind = \"fixed\"\n", "a.toml");
  EXPECT_EQ(std::get<std::int64_t>(entries.at("train.steps").value), 10);
  EXPECT_EQ(entries.at("train.steps").where, "a.toml:2:1");
  EXPECT_EQ(std::get<std::string>(entries.at("attention.scale.kind").value), "fixed");
}

TEST(Toml, RefusesWhatIsNotToml) {
  try {
    read_toml("[train]\nsteps = = 3\n", "bad.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().substr(0, 11), "bad.toml:2:");
    EXPECT_EQ(error.exit_code(), 2);
  }
  EXPECT_THROW(read_toml("when = 2024-01-01\n", "date.toml"), Error);
  EXPECT_THROW(read_toml("list = [1, 2]\n", "list.toml"), Error);
}

// Each of these took the process down: by the depth of a recursion, or by what toml++ 3.3 takes for granted of a
// header.
TEST(Toml, RefusesWhatWouldBreakTheParser) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::vector<std::string> harmful = {
      "a" + repeated(".a", 100'000) + " = 1\n",
      "a" + repeated(" . \"b\"", 100'000) + " = 1\n",
      "[a" + repeated(".a", 100'000) + "]\n",
      "[[a" + repeated(".a", 100'000) + "]]\n",
      "a = " + repeated("[", 100'000),
      "a = " + repeated("{a=", 100'000),
      "a = " + repeated("[{a=", 200) + "1" + repeated("}]", 200),
      "a = '''\n''''\nb" + repeated(".a", 100'000) + " = 1\n",
      "[&",
      "[[[1]]]",
      "[[=",
      "[ü]",
      "a = ü",
      "ü = 1",
      "a = [1\u036c]",
      "x = 1\n [ =]",
  };
  for (const std::string& text : harmful) {
    try {
      read_toml_document(text, "bad.toml");
      ADD_FAILURE() << "accepted: " << text.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.where().substr(0, 9), "bad.toml:") << text.substr(0, 40);
      EXPECT_EQ(error.exit_code(), 2);
    }
  }
  EXPECT_EQ(std::get<std::string>(parse_assignment("a=" + repeated("[", 1000)).second.value).size(), 1000U);
  EXPECT_EQ(std::get<std::string>(parse_assignment("a=größe").second.value), "größe");
  EXPECT_THROW(parse_assignment("a=\xff"), Error);
}

TEST(Toml, CountsNoDotsAndBracketsInTextAndComments) {
  const std::string dots(1000, '.'), brackets(1000, '[');
  const ConfigEntries entries =
      read_toml("# " + dots + brackets + "\na = \"\\\"" + dots + brackets + "\"\nb = '" + brackets +
                    "'\nc = \"\"\"\n[&\n" + dots + "\"\"\"\"\"\nd = '''" + dots + "'''\n[ e ]\nf=1",
                "a.toml");
  EXPECT_EQ(entries.size(), 5U);
  const ConfigEntries letters =
      read_toml("\uFEFF# größe\na = \"ü\"\nb = \"\"\"x \\\n   ü\"\"\"\n\"ö\" = 1\n", "a.toml");
  EXPECT_EQ(std::get<std::string>(letters.at("b").value), "x ü");
  EXPECT_EQ(letters.size(), 3U);
}

TEST(Assignment, ReadsTomlAndTakesTheRestAsText) {
  EXPECT_EQ(std::get<double>(parse_assignment("train.lr=1e-3").second.value), 1e-3);
  EXPECT_EQ(std::get<std::int64_t>(parse_assignment("train.steps=500").second.value), 500);
  EXPECT_EQ(std::get<bool>(parse_assignment("task.shuffled=true").second.value), true);
  EXPECT_EQ(std::get<std::string>(parse_assignment("attention.rule=softmax").second.value), "softmax");
  EXPECT_EQ(std::get<std::string>(parse_assignment("run.device=cuda:1").second.value), "cuda:1");
  EXPECT_EQ(std::get<std::string>(parse_assignment("a.b=").second.value), "");
  EXPECT_EQ(std::get<std::string>(parse_assignment("a.b=1\nc=2").second.value), "1\nc=2");
  EXPECT_EQ(std::get<std::string>(parse_assignment("a.b=[+1, .5]").second.value), "[+1, .5]");
  EXPECT_THROW(parse_assignment("train.lr"), Error);
  EXPECT_THROW(parse_assignment("=3"), Error);
}

TEST(Toml, WritesWhatItReads) {
  const std::vector<std::pair<std::string, OptionValue>> flat = {
      {"a.x", 0.1}, {"a.y", std::int64_t{3}}, {"b.c.z", std::string("t\"\\\n\x7f\x1b")}, {"a.w", true}};
  const ConfigEntries entries = read_toml(write_toml(flat), "again");
  ASSERT_EQ(entries.size(), flat.size());
  for (const auto& [key, value] : flat) EXPECT_EQ(entries.at(key).value, value) << key;
}

TEST(Toml, ReadsStudies) {
  const ConfigDocument document = read_toml_document(
      "[study]\nseeds = [1, 2]\n[[arm]]\nname = \"a\"\nset.attention.rule = \"softmax\"\n[[arm]]\nname = \"b\"\nset = "
      "{ \"train.lr\" = 1e-3 }\n",
      "s");
  EXPECT_EQ(document.lists.at("study.seeds").size(), 2U);
  ASSERT_EQ(document.tables.at("arm").size(), 2U);
  EXPECT_TRUE(document.tables.at("arm")[0].contains("set.attention.rule"));
  EXPECT_TRUE(document.tables.at("arm")[1].contains("set.train.lr"));
}

}  // namespace
}  // namespace eureka
