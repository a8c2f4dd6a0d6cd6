// The command line, without the headers of its parser, which take seconds in every file that sees them.
//
//   void add_train(Command& program) {
//     Command verb = program.add_command("train", "one run: train a model on a task");
//     auto arguments = std::make_shared<TrainArguments>();
//     verb.option("config", arguments->source, "a preset or a file").required();
//     verb.option("--seed", arguments->seed, "seed of data and initial weights").not_negative();
//     verb.flag("--json", arguments->json, "machine-readable");
//     verb.runs([=] { return train(*arguments); });
//   }
//
// A name without dashes is an argument by position. Defaults are what the variables hold; they must live as long as the
// action.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace eureka::cli {

// Runs after parsing; returns the exit code.
using Action = std::function<int()>;

// Words that may stand somewhere, told when somebody asks.
using Words = std::function<std::vector<std::string>()>;

// What verbs declare beyond what the parser keeps.
struct Declared {
  Action chosen;
  std::map<const CLI::Option*, Words> words;
};

// One option, flag or argument by position, as it was declared.
struct ArgumentInfo {
  std::string position;            // the name of an argument by position; empty for what has dashes
  std::vector<std::string> names;  // "-o", "--out"
  std::string help;
  bool takes_value = true;
  bool required = false;
  std::vector<std::string> words;  // it is one of these, or may be; none: anything, such as a file
};

// A verb, a part of one, or the whole program, as it was declared: for completion and manual pages. What is hidden from
// the help is left out.
struct CommandInfo {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<ArgumentInfo> arguments;
  std::vector<CommandInfo> parts;
};

// One option or flag: what it may be, and how it is shown.
class Argument {
 public:
  Argument(CLI::Option* option, Declared& declared) : option_(option), declared_(&declared) {}

  Argument& required();
  Argument& positive();
  Argument& not_negative();
  // Number: int, std::int64_t or double.
  template <class Number>
  Argument& between(Number low, Number high);
  Argument& one_of(const std::vector<std::string>& words);
  // Offered by completion; anything else may stand there too.
  Argument& suggests(Words words);
  Argument& needs(const std::string& other);
  // Every time it is given adds to the list.
  Argument& repeatable();
  // In the help.
  Argument& shows_default();
  Argument& hidden();

  // After parsing: did the user say it?
  bool given() const;

 private:
  CLI::Option* option_;
  Declared* declared_;
};

// A verb, a part of one, or the whole program.
class Command {
 public:
  Command(CLI::App& app, Declared& declared) : app_(&app), declared_(&declared) {}

  // Where a command has parts, one must be named.
  Command add_command(const std::string& name, const std::string& help);

  // Value: text, a list of texts, int, std::int64_t, std::uint64_t, double, or std::optional<std::int64_t>.
  template <class Value>
  Argument option(const std::string& name, Value& value, const std::string& help = "");
  Argument flag(const std::string& name, bool& value, const std::string& help = "");
  // A flag that may say more: `--name` alone means `bare`, `--name=other` means other.
  Argument flag(const std::string& name, std::string& value, const std::string& bare, const std::string& help);

  // Below the options in the help.
  void footer(const std::string& text);

  // What is done when this command is chosen.
  void runs(Action action);

 private:
  CLI::App* app_;
  Declared* declared_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& version);
  ~CommandLine();

  Command& program() { return program_; }

  // All that was declared so far.
  CommandInfo describe() const;

  // What the command that was chosen does ("help VERB" is "VERB --help"); nothing when help or the version was asked
  // for, which is printed. Throws Error(usage) with a suggestion for what it cannot place.
  std::optional<Action> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Declared declared_;
  Command program_;
};

}  // namespace eureka::cli
