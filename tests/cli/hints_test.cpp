// Whatever the program, its help and its documents tell people to type exists.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/command.h"

namespace eureka {
namespace {

const fs::path kRoot = fs::path(EUREKA_README).parent_path();

const std::string& help_of(const std::string& command) {
  static std::map<std::string, std::string> known;
  const auto found = known.find(command);
  if (found != known.end()) return found->second;
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(word);
  words.emplace_back("--help");
  const CommandResult result = eureka_command(words);
  return known[command] = result.exit_code == 0 ? result.out : "";
}

std::set<std::string> words_in(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> words;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it)
    words.insert((*it)[1].str());
  return words;
}

std::set<std::string> flags_in(const std::string& text) {
  return words_in(text, "(?:^|[^a-zA-Z0-9-])(--[a-z][a-z-]*)");
}

// Verbs, and parts of verbs, with what they can be asked.
std::map<std::string, std::set<std::string>> commands() {
  std::map<std::string, std::set<std::string>> all;
  const auto verbs = words_in(eureka_command({"--help"}).out, "\\n  ([a-z-]+) ");
  for (const std::string& verb : verbs) {
    all[verb] = flags_in(help_of(verb));
    const std::string& help = help_of(verb);
    const std::size_t parts = help.find("Subcommands:");
    if (parts == std::string::npos) continue;
    for (const std::string& part : words_in(help.substr(parts), "\\n  ([a-z-]+) ")) {
      const auto& own = all[verb + " " + part] = flags_in(help_of(verb + " " + part));
      all[verb].insert(own.begin(), own.end());  // "eureka condition ... --json"
    }
  }
  return all;
}

struct Told {
  std::string where, text;
};

// Sources, presets and pages; the texts that the compiler joins are joined.
std::vector<Told> everything_told() {
  std::vector<Told> all;
  const std::regex joined("\"\\s*\\n\\s*(?:fmt::format\\()?\"");
  for (const char* folder : {"src", "docs", "presets"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string kind = entry.path().extension().string();
      if (kind != ".cpp" && kind != ".h" && kind != ".md" && kind != ".toml") continue;
      all.push_back({entry.path().string(), std::regex_replace(read_file(entry.path()), joined, "")});
    }
  all.push_back({EUREKA_README, read_file(EUREKA_README)});
  return all;
}

TEST(Hints, NameNoVerbAndNoFlagThatIsNotThere) {
  const auto known = commands();
  ASSERT_GE(known.size(), 20U);
  // "eureka VERB ..." as far as the sentence, the quotation or the line goes; of a table of a shell what stands before
  // '|'.
  const std::regex told("(?:build/|\\$ |[`'\"(: ]|^)eureka ([a-z]+)(?![a-z/.])((?: [^\\n\"`;|]*)?)");
  const std::set<std::string> no_verbs = {"is",   "lies", "wrote", "process",  "has", "reads", "of",
                                          "that", "sets", "does",  "for",      "if",  "and",   "from",
                                          "in",   "made", "knows", "declares", "was", "would"};
  std::size_t looked_at = 0;
  for (const Told& one : everything_told())
    for (auto it = std::sregex_iterator(one.text.begin(), one.text.end(), told); it != std::sregex_iterator(); ++it) {
      std::string command = (*it)[1].str();
      std::string rest = (*it)[2].str();
      // Only what is said as a command: it has a flag, or stands in quotes or in a block.
      const std::string before = it->str().substr(0, 1);
      if (!known.contains(command)) {
        EXPECT_FALSE(before == "`" || before == "$" || before == "b")
            << one.where << ": " << it->str() << ": there is no verb '" << command << "'";
        continue;
      }
      std::istringstream words(rest);
      std::string next;
      if (words >> next && known.contains(command + " " + next)) command += " " + next;
      // A second command on the line has flags of its own.
      rest = rest.substr(0, rest.find(" eureka "));
      for (const std::string& flag : flags_in(rest)) {
        EXPECT_TRUE(known.at(command).contains(flag)) << one.where << ": " << it->str() << ": no " << flag;
        ++looked_at;
      }
    }
  EXPECT_GT(looked_at, 60U) << "the hints are no longer recognized";
}

TEST(Hints, FlagsNamedAloneBelongToSomeVerb) {
  std::set<std::string> flags = flags_in(help_of(""));
  for (const auto& [command, own] : commands()) flags.insert(own.begin(), own.end());
  for (const Told& one : everything_told()) {
    if (one.where.find("/src/cli/") == std::string::npos && one.where.find("/src/lab/") == std::string::npos) continue;
    if (one.where.find("/src/lab/slurm") != std::string::npos) continue;  // speaks to sbatch
    std::istringstream lines(one.text);
    for (std::string line; std::getline(lines, line);) {
      // Those of other programs, and of the one that a study starts itself.
      if (line.find("hidden()") != std::string::npos || line.find("apt-get") != std::string::npos ||
          line.find("update-alternatives") != std::string::npos || line.find("complete -c") != std::string::npos ||
          line.find("--heartbeat") != std::string::npos || line.find("--only-memory") != std::string::npos ||
          line.find("--description") != std::string::npos)
        continue;
      for (const std::string& text : words_in(line, "\"([^\"]*)\""))
        for (const std::string& flag : flags_in(text)) EXPECT_TRUE(flags.contains(flag)) << one.where << ": " << line;
    }
  }
}

TEST(Hints, AVerbIsHelpedInEveryWay) {
  for (const auto& [command, flags] : commands()) {
    if (command == "help") continue;
    std::vector<std::string> words = {"help"};
    std::istringstream text(command);
    for (std::string word; text >> word;) words.push_back(word);
    EXPECT_EQ(eureka_command(words).out, help_of(command)) << command;
  }
  EXPECT_EQ(eureka_command({"help"}).out, eureka_command({"--help"}).out);
  const CommandResult wrong = eureka_command({"help", "trian"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, testing::HasSubstr("did you mean 'train'?"));
  EXPECT_EQ(eureka_command({"-V"}).out, eureka_command({"--version"}).out);
}

}  // namespace
}  // namespace eureka
