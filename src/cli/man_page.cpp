#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace eureka::cli {
namespace {

// What troff would take for a request, an escape or a hyphen that may be broken.
std::string escaped(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string synopsis(const CommandInfo& command, const std::string& words) {
  std::string text = fmt::format(".B {}\n", escaped(words));
  if (!command.parts.empty()) return text + ".I COMMAND\n.RI [ OPTIONS ]\n";
  for (const ArgumentInfo& argument : command.arguments)
    if (argument.names.empty())
      text += argument.required ? fmt::format(".I {}\n", upper(argument.position))
                                : fmt::format(".RI [ {} ]\n", upper(argument.position));
  return text + ".RI [ OPTIONS ]\n";
}

std::string listed(const ArgumentInfo& argument) {
  std::string names;
  for (const std::string& name : argument.names) names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
  if (argument.names.empty())
    names = "\\fI" + upper(argument.position) + "\\fR";
  else if (argument.takes_value)
    names += " \\fIVALUE\\fR";
  std::string text = fmt::format(".TP\n{}\n{}\n", names, escaped(argument.help.empty() ? "." : argument.help));
  // A long list, of presets or settings, is what eureka list shows.
  constexpr std::size_t kFew = 8;
  if (!argument.words.empty() && argument.words.size() <= kFew) {
    std::string words;
    for (const std::string& word : argument.words) words += (words.empty() ? "" : ", ") + word;
    text += fmt::format("(one of: {})\n", escaped(words));
  }
  return text;
}

std::string page_text(const CommandInfo& command, const std::string& words, const std::string& name) {
  std::string text =
      fmt::format(".TH {} 1 \"\" \"eureka {}\" \"User Commands\"\n", upper(escaped(name)), EUREKA_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.help));
  text += ".SH SYNOPSIS\n" + synopsis(command, words);
  if (!command.parts.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandInfo& part : command.parts)
      text += fmt::format(".TP\n.BR {} (1)\n{}\n", escaped(name + "-" + part.name), escaped(part.help));
  }
  text += ".SH OPTIONS\n";
  for (const ArgumentInfo& argument : command.arguments) text += listed(argument);
  if (!command.footer.empty()) text += ".SH NOTES\n" + escaped(command.footer) + "\n";
  text +=
      ".SH EXIT STATUS\n"
      "0: done. 1: the run or the check failed. 2: a usage, config, input file or output place that is wrong. 4: "
      "interrupted, "
      "with a checkpoint saved. 70: a bug of eureka.\n";
  if (name != "eureka") text += ".SH SEE ALSO\n.BR eureka (1)\n";
  return text;
}

void add_pages(const CommandInfo& command, const std::string& words, std::vector<ManPage>& pages) {
  std::string name = words;
  std::replace(name.begin(), name.end(), ' ', '-');
  pages.push_back({name, page_text(command, words, name)});
  for (const CommandInfo& part : command.parts) add_pages(part, words + " " + part.name, pages);
}

}  // namespace

std::vector<ManPage> man_pages(const CommandInfo& program) {
  std::vector<ManPage> pages;
  add_pages(program, "eureka", pages);
  return pages;
}

}  // namespace eureka::cli
