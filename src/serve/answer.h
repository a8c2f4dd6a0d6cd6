// What is sent back.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "io/json.h"

namespace eureka::serve {

inline constexpr const char* kJson = "application/json; charset=utf-8";
inline constexpr const char* kHtml = "text/html; charset=utf-8";
inline constexpr const char* kSvg = "image/svg+xml; charset=utf-8";

struct Answer {
  unsigned status = 200;
  const char* type = kJson;
  std::shared_ptr<const std::string> body;
  // What a page may load; of anything else nothing is loaded.
  const char* policy = "default-src 'none'; frame-ancestors 'none'; sandbox";
  std::string location = {}, cookie = {};  // headers, where there is such a one
};

inline Answer text_answer(const char* type, std::string body) {
  return {.type = type, .body = std::make_shared<const std::string>(std::move(body))};
}

// Names in files may hold bytes that are no text; they are shown as U+FFFD.
inline Answer json_answer(const Json& json) { return text_answer(kJson, json.dump(-1, Json::BadText::replace)); }

// What cannot be answered, and what to do about it.
class Refusal : public std::runtime_error {
 public:
  Refusal(unsigned status, const std::string& what, std::string hint = {})
      : std::runtime_error(what), status_(status), hint_(std::move(hint)) {}

  unsigned status() const { return status_; }
  Answer answer() const {
    Answer refused = json_answer({{"error", what()}, {"hint", hint_}});
    refused.status = status_;
    return refused;
  }

 private:
  unsigned status_;
  std::string hint_;
};

}  // namespace eureka::serve
