// eureka completion and eureka man: what shells and man(1) want to know, from the declarations of the verbs.
#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/output.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/completion_scripts.h"
#include "cli/man_page.h"

namespace eureka::cli {
namespace {

int completion(const CommandInfo& program, const std::string& shell) {
  print("{}", Lines{shell == "bash"  ? bash_completion(program)
                    : shell == "zsh" ? zsh_completion(program)
                                     : fish_completion(program)});
  return kOk;
}

struct ManArguments {
  std::vector<std::string> words;
  std::string out;
};

int man(const CommandInfo& program, const ManArguments& arguments) {
  const std::vector<ManPage> pages = man_pages(program);
  if (!arguments.out.empty()) {
    make_directories(arguments.out);
    for (const ManPage& page : pages) atomic_write(fs::path(arguments.out) / (page.name + ".1"), page.text);
    return kOk;
  }
  std::string wanted = "eureka";
  for (const std::string& word : arguments.words) wanted += "-" + word;
  std::vector<std::string> names;
  for (const ManPage& page : pages) {
    if (page.name == wanted) {
      print("{}", Lines{page.text});
      return kOk;
    }
    names.push_back(page.name);
  }
  throw Error(ErrorKind::usage, fmt::format("there is no page '{}'", wanted), {}, did_you_mean(wanted, names));
}

}  // namespace

void add_completion(Command& program, const CommandLine& line) {
  Command verb = program.add_command("completion", "what completes eureka's command lines in bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  verb.option("shell", *shell, "bash, zsh or fish").one_of({"bash", "zsh", "fish"}).required();
  verb.footer(
      "source <(eureka completion bash)      for this shell; make install puts all three where shells look for them");
  verb.runs([=, &line] { return completion(line.describe(), *shell); });

  Command manual = program.add_command("man", "the manual pages, for man(1): eureka man train | man -l -");
  auto arguments = std::make_shared<ManArguments>();
  manual.option("verb", arguments->words, "of this one (a part of a verb after its verb); of eureka when left out");
  manual.option("--out", arguments->out, "write all of them into this directory");
  manual.runs([=, &line] { return man(line.describe(), *arguments); });

  // The parser turns it into VERB --help; here it is declared.
  Command help = program.add_command("help", "the options of a verb: eureka help train");
  auto words = std::make_shared<std::vector<std::string>>();
  help.option("verb", *words, "a verb, and a part of it: eureka help data get");
  help.runs([] { return kOk; });
}

}  // namespace eureka::cli
