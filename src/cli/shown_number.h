// --show: a number of a diagnostic that is drawn below the curve of a run.
//
//   const ShownNumber shown = find_shown_number("attention");        its first number, the most telling one: entropy
//   add_shown(shown, entries);                                        the run looks at it, if it did not before
#pragma once

#include <string>

#include "io/toml.h"

namespace eureka::cli {

struct ShownNumber {
  std::string diagnostic;
  std::string number;
  std::string unit;
  std::string part;  // only of this one, if it is given
};

// "attention", "attention/logit_max", or of one part "gradients/norm/q". Throws Error(config) with a suggestion for a
// name that nobody knows.
ShownNumber find_shown_number(const std::string& name);

// Into diagnose.names, where it is missing; says whether it was.
bool add_shown(const ShownNumber& shown, ConfigEntries& entries);

}  // namespace eureka::cli
