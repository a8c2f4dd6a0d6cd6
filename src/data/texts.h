// The texts that language tasks learn from: a sample compiled into the program, the King James Bible, which is fetched,
// and any UTF-8 file of the user's.
//
//   TextStream stream = open_text("kjv");        Error: the text kjv is not here / eureka data get kjv
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "data/text_stream.h"

namespace eureka {

struct TextInfo {
  std::string name;
  std::string description;
  std::string source;
  bool embedded = false;
  std::uint64_t characters = 0;
};

std::span<const TextInfo> known_texts();
// Nothing for any other name: it is a path then.
const TextInfo* find_text(const std::string& name);

// Where a text lies; nothing for what is compiled in.
std::optional<fs::path> text_path(const std::string& text);
// Throws Error(input) when it is missing, empty or no text.
TextStream open_text(const std::string& text);

// Puts a text into the data directory; returns false when it was there already. Killed at any moment it leaves either
// nothing or the whole file.
bool get_text(const std::string& name, const std::function<void(const std::string&)>& progress = {});
// Throws Error(input) when a fetched text is not what it should be.
void verify_text(const std::string& name);

}  // namespace eureka
