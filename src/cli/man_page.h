// Manual pages, made of what the verbs declare.
//
//   for (const ManPage& page : man_pages(line.describe())) atomic_write(page.name + ".1", page.text);
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"

namespace eureka::cli {

struct ManPage {
  std::string name;  // "eureka-data-get"
  std::string text;  // as troff reads it
};

// Of the program and of everything that can be asked of it.
std::vector<ManPage> man_pages(const CommandInfo& program);

}  // namespace eureka::cli
