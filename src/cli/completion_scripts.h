// Completion for shells, made of what the verbs declare: commands, options, and the words that may follow them.
//
//   print("{}", Layout{bash_completion(line.describe())});
#pragma once

#include <string>

#include "cli/command_line.h"

namespace eureka::cli {

std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);

}  // namespace eureka::cli
