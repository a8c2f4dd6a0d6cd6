#include "base/error.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace eureka {
namespace {

// what() would end at a zero.
std::string with_zeros_escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, printable({"\0", 1}));
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& what, std::string where, std::string hint)
    : std::runtime_error(with_zeros_escaped(what)), kind_(kind), where_(std::move(where)), hint_(std::move(hint)) {}

std::string Error::message() const {
  std::string text = printable(where_.empty() ? what() : where_ + ": " + what());
  if (!hint_.empty()) text += "\n  " + printable(hint_);
  return text;
}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({})", file, line, message, condition));
}

}  // namespace eureka
