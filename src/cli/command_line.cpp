#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/output.h"
#include "base/suggest.h"

namespace eureka::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the parser could not place, with a suggestion: a verb, a part of it, or an option.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem, int argc, char** argv) {
  const std::vector<std::string> verbs = command_names(app);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_verb = contains(verbs, first);
  if (!is_verb && !first.empty() && first[0] != '-')
    return {ErrorKind::usage, fmt::format("there is no verb '{}'", first), {}, did_you_mean(first, verbs)};
  if (!is_verb) return {ErrorKind::usage, problem.what(), {}, "eureka --help shows what there is"};
  const CLI::App* verb = app.get_subcommand(first);
  std::string name_of_verb = first;
  const std::vector<std::string> parts = command_names(*verb);
  if (!parts.empty() && argc > 2 && argv[2][0] != '-') {
    const std::string second = argv[2];
    if (!contains(parts, second))
      return {
          ErrorKind::usage, fmt::format("eureka {} has no part '{}'", first, second), {}, did_you_mean(second, parts)};
    verb = verb->get_subcommand(second);
    name_of_verb += " " + second;
  }
  std::vector<std::string> options;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || contains(options, name)) continue;
    return {ErrorKind::usage,
            fmt::format("eureka {} has no option '{}'", name_of_verb, name),
            {},
            did_you_mean(name, options)};
  }
  return {ErrorKind::usage,
          fmt::format("eureka {}: {}", name_of_verb, problem.what()),
          {},
          fmt::format("eureka {} --help shows how", name_of_verb)};
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

CommandInfo described(const CLI::App& app, const Declared& declared) {
  CommandInfo info{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::vector<std::string> names = names_of(*option);
    const auto words = declared.words.find(option);
    info.arguments.push_back({names.empty() ? option->get_single_name() : "", names, option->get_description(),
                              option->get_items_expected_max() > 0, option->get_required(),
                              words != declared.words.end() ? words->second() : std::vector<std::string>()});
  }
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; }))
    info.parts.push_back(described(*part, declared));
  return info;
}

// "help data get" is "data get --help". Throws Error(usage) for a verb, or a part of one, that is not there.
std::vector<std::string> asked_help(const CLI::App& program, int argc, char** argv) {
  const CLI::App* app = &program;
  std::vector<std::string> words;
  for (int i = 2; i < argc; ++i) {
    const std::vector<std::string> names = command_names(*app);
    if (!contains(names, argv[i]))
      throw Error(ErrorKind::usage, fmt::format("there is no verb '{}'", argv[i]), {}, did_you_mean(argv[i], names));
    app = app->get_subcommand(argv[i]);
    words.emplace_back(argv[i]);
  }
  words.emplace_back("--help");
  std::reverse(words.begin(), words.end());  // as the parser wants them
  return words;
}

// CLI11's own refusal has the range in full, up to 1.8e308 with all its digits.
std::function<std::string(const std::string&)> named_check(const CLI::Validator& check, const char* what) {
  return [check, what](const std::string& text) {
    return check(std::string(text)).empty() ? "" : fmt::format("{} is no number {}", text, what);
  };
}

}  // namespace

Argument& Argument::required() {
  option_->required();
  return *this;
}
Argument& Argument::positive() {
  option_->check(named_check(CLI::PositiveNumber, "above 0"), "POSITIVE");
  return *this;
}
Argument& Argument::not_negative() {
  option_->check(named_check(CLI::NonNegativeNumber, "from 0 up"), "NONNEGATIVE");
  return *this;
}
template <class Number>
Argument& Argument::between(Number low, Number high) {
  option_->check(CLI::Range(low, high));
  return *this;
}
template Argument& Argument::between(int low, int high);
template Argument& Argument::between(std::int64_t low, std::int64_t high);
template Argument& Argument::between(double low, double high);
Argument& Argument::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return suggests([words] { return words; });
}
Argument& Argument::suggests(Words words) {
  declared_->words[option_] = std::move(words);
  return *this;
}
Argument& Argument::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}
Argument& Argument::repeatable() {
  option_->take_all();
  return *this;
}
Argument& Argument::shows_default() {
  option_->capture_default_str();
  return *this;
}
Argument& Argument::hidden() {
  option_->group("");
  return *this;
}
bool Argument::given() const { return option_->count() > 0; }

Command Command::add_command(const std::string& name, const std::string& help) {
  app_->require_subcommand(1);
  return {*app_->add_subcommand(name, help), *declared_};
}

template <class Value>
Argument Command::option(const std::string& name, Value& value, const std::string& help) {
  return {app_->add_option(name, value, help), *declared_};
}
template Argument Command::option(const std::string& name, std::string& value, const std::string& help);
template Argument Command::option(const std::string& name, std::vector<std::string>& value, const std::string& help);
template Argument Command::option(const std::string& name, int& value, const std::string& help);
template Argument Command::option(const std::string& name, std::int64_t& value, const std::string& help);
template Argument Command::option(const std::string& name, std::uint64_t& value, const std::string& help);
template Argument Command::option(const std::string& name, double& value, const std::string& help);
template Argument Command::option(const std::string& name, std::optional<std::int64_t>& value, const std::string& help);

Argument Command::flag(const std::string& name, bool& value, const std::string& help) {
  return {app_->add_flag(name, value, help), *declared_};
}
Argument Command::flag(const std::string& name, std::string& value, const std::string& bare, const std::string& help) {
  return {app_->add_flag(name + "{" + bare + "}", value, help), *declared_};
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::runs(Action action) {
  app_->callback([declared = declared_, action = std::move(action)] { declared->chosen = action; });
}

CommandLine::CommandLine(const std::string& name, const std::string& help, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)), program_(*app_, declared_) {
  app_->set_version_flag("-V,--version", version);
}
CommandLine::~CommandLine() = default;

CommandInfo CommandLine::describe() const { return described(*app_, declared_); }

std::optional<Action> CommandLine::parse(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "help")
      app_->parse(asked_help(*app_, argc, argv));
    else
      app_->parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream help;
    app_->exit(success, help, help);
    print("{}", Layout{help.str()});
    return std::nullopt;
  } catch (const CLI::ParseError& problem) {
    throw usage_error(*app_, problem, argc, argv);
  }
  return declared_.chosen;
}

}  // namespace eureka::cli
