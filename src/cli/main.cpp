// eureka: a laboratory for the sudden learning of transformers.
#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "kernels/instruction_set.h"

namespace eureka::cli {
namespace {

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

// What the parser could not place, with a suggestion: a verb, or an option of the verb.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem, int argc, char** argv) {
  const std::vector<std::string> verbs = verb_names(app);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_verb = std::find(verbs.begin(), verbs.end(), first) != verbs.end();
  if (!is_verb && !first.empty() && first[0] != '-')
    return {ErrorKind::usage, fmt::format("there is no verb '{}'", first), {}, did_you_mean(first, verbs)};
  if (!is_verb) return {ErrorKind::usage, problem.what(), {}, "eureka --help shows what there is"};
  const CLI::App* verb = app.get_subcommand(first);
  std::string name_of_verb = first;
  const std::vector<std::string> parts = verb_names(*verb);
  if (!parts.empty() && argc > 2 && argv[2][0] != '-') {
    const std::string second = argv[2];
    if (std::find(parts.begin(), parts.end(), second) == parts.end())
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
    if (!name.starts_with("--") || std::find(options.begin(), options.end(), name) != options.end()) continue;
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

int run(int argc, char** argv) {
  CLI::App app("Eureka: train transformers on multi-step tasks, detect their Eureka-moments, compare cures.", "eureka");
  app.set_version_flag("--version", EUREKA_VERSION);
  app.require_subcommand(1);
  Action chosen;
  add_train(app, chosen);
  add_study(app, chosen);
  add_branch(app, chosen);
  add_detect(app, chosen);
  add_condition(app, chosen);
  add_list(app, chosen);
  add_bench(app, chosen);
  add_doctor(app, chosen);
  add_data(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    throw usage_error(app, problem, argc, argv);
  }
  choose_instruction_set_from_environment();
  return chosen();
}

}  // namespace
}  // namespace eureka::cli

int main(int argc, char** argv) {
  try {
    return eureka::cli::run(argc, argv);
  } catch (const eureka::Error& error) {
    fmt::print(stderr, "eureka: {}\n", error.message());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "eureka: internal error: {}\n  this is a bug in eureka, not in what you did: please report it\n",
               error.what());
    return eureka::cli::kInternal;
  }
}
