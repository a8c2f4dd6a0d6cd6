#include "base/error.h"

#include <fmt/format.h>

namespace eureka {

std::string Error::message() const {
  std::string text = where_.empty() ? what() : where_ + ": " + what();
  if (!hint_.empty()) text += "\n  " + hint_;
  return text;
}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({})", file, line, message, condition));
}

}  // namespace eureka
