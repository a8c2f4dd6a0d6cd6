// What reads bytes from elsewhere, one function for each kind: it may refuse them with an Error and do nothing else.
//
//   for (const FuzzTarget& target : format_targets()) target.run(bytes);
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"

namespace eureka::fuzz {

struct FuzzTarget {
  std::string_view name;  // of its folder in fuzz/corpus
  void (*run)(std::string_view bytes);
};

// Those of file formats, those of directories made of several files, and those of requests to a server.
std::vector<FuzzTarget> format_targets();
std::vector<FuzzTarget> directory_targets();
std::vector<FuzzTarget> request_targets();

// Bytes may be refused, with a message.
template <class Action>
void allow_errors(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EUREKA_CHECK(!error.message().empty(), "an error says something");
  }
}

}  // namespace eureka::fuzz
