// Text from elsewhere made fit for a terminal: names, messages, the cells of a log.
//
//   printable("a\x1b[2Jb")      a\u001b[2Jb
//   printable("Übung ⣿")        as it is
//
// Escaped are control characters, DEL, C1 controls, marks that turn the direction of writing, line separators, and
// bytes that are not UTF-8 (as \xff). All but the last are escapes of JSON too, so that JSON stays what it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eureka {

// As one line: line ends and tabs are escaped as well.
std::string printable(std::string_view text);

// Line ends stay.
std::string printable_lines(std::string_view text);

// Nothing in it needs an escape.
bool is_printable(std::string_view text);

bool is_utf8(std::string_view text);

// Takes one code point off the front of a text that is not empty; a byte that begins none is taken alone and is
// nothing.
std::optional<std::uint32_t> take_code_point(std::string_view& text);

}  // namespace eureka
