// What would break the TOML parser itself is refused before it is asked: toml++ 3.3 recurses once for every part of a
// key (marzer/tomlplusplus#242 limits that, after the last release), takes for granted what a table header begins with
// (#294, #301), and has no answer to whether a letter beyond ASCII is a space.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace eureka {

struct HarmfulToml : Error {
  using Error::Error;
};

// Throws HarmfulToml, of kind config, with file:line:column where brackets are nested too deeply, a key has too many
// parts, a table header does not begin with a key, or a letter beyond ASCII stands outside of text and comments.
// Everything else is left to the parser.
void refuse_harmful_toml(std::string_view text, const std::string& file_name);

}  // namespace eureka
