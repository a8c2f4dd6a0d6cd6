#include "cli/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace eureka::cli {
namespace {

// "" for the program, "data", "data get".
struct Place {
  std::string path;
  const CommandInfo* command;
};

void add_places(const CommandInfo& command, const std::string& path, std::vector<Place>& places) {
  places.push_back({path, &command});
  for (const CommandInfo& part : command.parts)
    add_places(part, path.empty() ? part.name : path + " " + part.name, places);
}

std::vector<Place> places_of(const CommandInfo& program) {
  std::vector<Place> places;
  add_places(program, "", places);
  return places;
}

// In single quotes, as bash and zsh read it.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Fish knows \' and \\ between single quotes.
std::string quoted_for_fish(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The patterns of a case: which word leads from one command to a part of it. " train", "data get".
std::vector<std::string> ways(const std::vector<Place>& places) {
  std::vector<std::string> all;
  for (const Place& place : places)
    if (!place.path.empty()) all.push_back(place.path.find(' ') == std::string::npos ? " " + place.path : place.path);
  return all;
}

std::vector<std::string> part_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const CommandInfo& part : command.parts) names.push_back(part.name);
  return names;
}

// What may stand by position: parts, or the words of its arguments.
std::vector<std::string> words_at(const CommandInfo& command) {
  std::vector<std::string> words = part_names(command);
  for (const ArgumentInfo& argument : command.arguments)
    if (argument.names.empty()) words.insert(words.end(), argument.words.begin(), argument.words.end());
  return words;
}

std::vector<std::string> options_of(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const ArgumentInfo& argument : command.arguments)
    names.insert(names.end(), argument.names.begin(), argument.names.end());
  return names;
}

// One line of help: its first sentence, without what shells would read in a list.
std::string short_help(const std::string& help) { return help.substr(0, help.find('\n')); }

// "name:help", where a colon in the name is written "\:".
std::string described(const std::string& name, const std::string& help) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(fmt::format("{}:{}", escaped, short_help(help)));
}

}  // namespace

std::string bash_completion(const CommandInfo& program) {
  const std::vector<Place> places = places_of(program);
  std::string words, values;
  for (const auto& [path, command] : places) {
    words += fmt::format("    {}) options={} words={} ;;\n", quoted(path),
                         quoted(fmt::format("{}", fmt::join(options_of(*command), " "))),
                         quoted(fmt::format("{}", fmt::join(words_at(*command), " "))));
    for (const ArgumentInfo& argument : command->arguments)
      if (argument.takes_value)
        for (const std::string& name : argument.names)
          values += fmt::format("    {}) takes_value=1 words={} ;;\n", quoted(path + ":" + name),
                                quoted(fmt::format("{}", fmt::join(argument.words, " "))));
  }
  std::string patterns;
  for (const std::string& way : ways(places)) patterns += (patterns.empty() ? "" : "|") + quoted(way);
  return fmt::format(R"(# Completion of eureka for bash, made by: eureka completion bash
_eureka() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="" options="" words="" takes_value="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command" in
{}  esac
  case "$command:${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  if [[ -z $takes_value && $current == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # The value of a setting follows without a space.
  if [[ ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace 2> /dev/null; fi
}}
complete -o bashdefault -o default -F _eureka eureka
)",
                     patterns, words, values);
}

std::string zsh_completion(const CommandInfo& program) {
  const std::vector<Place> places = places_of(program);
  std::string lists, values;
  for (const auto& [path, command] : places) {
    std::vector<std::string> options, parts, words;
    for (const CommandInfo& part : command->parts) parts.push_back(described(part.name, part.help));
    for (const ArgumentInfo& argument : command->arguments) {
      for (const std::string& name : argument.names) {
        options.push_back(described(name, argument.help));
        if (!argument.takes_value) continue;
        std::vector<std::string> list;
        for (const std::string& word : argument.words) list.push_back(quoted(word));
        values +=
            fmt::format("    {}) takes_value=1 choices=({}) ;;\n", quoted(path + ":" + name), fmt::join(list, " "));
      }
      if (argument.names.empty())
        for (const std::string& word : argument.words) words.push_back(quoted(word));
    }
    lists += fmt::format("    {}) options=({}) parts=({}) choices=({}) ;;\n", quoted(path), fmt::join(options, " "),
                         fmt::join(parts, " "), fmt::join(words, " "));
  }
  std::string patterns;
  for (const std::string& way : ways(places)) patterns += (patterns.empty() ? "" : "|") + quoted(way);
  return fmt::format(R"(#compdef eureka
# Completion of eureka for zsh, made by: eureka completion zsh
_eureka() {{
  local command="" takes_value="" i
  local -a options parts choices
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command ${{words[i]}}" in
      {}) command="${{command:+$command }}${{words[i]}}" ;;
    esac
  done
  case "$command" in
{}  esac
  case "$command:${{words[CURRENT-1]}}" in
{}  esac
  if [[ -n $takes_value ]]; then
    (( $#choices )) && compadd -S '' -a choices || _files
  elif [[ ${{words[CURRENT]}} == -* ]]; then
    _describe option options
  else
    (( $#parts )) && _describe command parts
    (( $#choices )) && compadd -a choices
    (( $#parts )) || _files
  fi
}}
_eureka "$@"
)",
                     patterns, lists, values);
}

std::string fish_completion(const CommandInfo& program) {
  const std::vector<Place> places = places_of(program);
  std::vector<std::string> patterns;
  for (const std::string& way : ways(places)) patterns.push_back(quoted_for_fish(way));
  std::string text = fmt::format(R"(# Completion of eureka for fish, made by: eureka completion fish
function __eureka_at --description 'is this command being typed?'
  set -l command ''
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    switch "$command $word"
      case {}
        set command (string trim "$command $word")
    end
  end
  test "$command" = "$argv[1]"
end
)",
                                 fmt::join(patterns, " "));
  for (const auto& [path, command] : places) {
    const std::string here =
        fmt::format("complete -c eureka -n {}", quoted_for_fish(fmt::format("__eureka_at '{}'", path)));
    for (const CommandInfo& part : command->parts)
      text += fmt::format("{} -f -a {} -d {}\n", here, part.name, quoted_for_fish(short_help(part.help)));
    for (const ArgumentInfo& argument : command->arguments) {
      const std::string list = fmt::format("{}", fmt::join(argument.words, " "));
      if (argument.names.empty()) {
        if (!list.empty()) text += fmt::format("{} -a {}\n", here, quoted_for_fish(list));
        continue;
      }
      text += here;
      for (const std::string& name : argument.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (argument.takes_value) text += list.empty() ? " -r" : " -x -a " + quoted_for_fish(list);
      text += fmt::format(" -d {}\n", quoted_for_fish(short_help(argument.help)));
    }
  }
  return text;
}

}  // namespace eureka::cli
