#include "serve/site.h"

#include "figure/palette.h"
#include "report/bundle.h"
#include "serve/plain_page.h"

namespace eureka::serve {
namespace {

constexpr const char* kPage =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width,initial-scale=1\">\n<title>Eureka</title>\n<link rel=\"icon\" href=\"data:,\">"
    "<link rel=\"stylesheet\" href=\"/assets/app.css\"></head>\n<body><div id=\"app\"></div>\n<noscript><p>This page "
    "is "
    "made by a script. <a href=\"/plain\">The same runs and studies without one</a>.</p></noscript>\n"
    "<script src=\"/assets/app.js\"></script></body></html>\n";

std::optional<Answer> part_of_page(std::string_view path) {
  const PageBundle bundle = live_bundle();
  if (bundle.script.empty()) return std::nullopt;
  if (path == "/") {
    Answer page = text_answer(kHtml, kPage);
    page.policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return page;
  }
  if (path == "/assets/app.js") return text_answer("text/javascript; charset=utf-8", std::string(bundle.script));
  if (path == "/assets/app.css")
    return text_answer("text/css; charset=utf-8", figure::css_colors() + std::string(bundle.style));
  return std::nullopt;
}

}  // namespace

Answer site_answer(Api& api, const RequestTarget& target) {
  if (const auto part = part_of_page(target.path)) return *part;
  if (target.path == "/") return api.answer({"/plain", {}});
  return target.path == "/assets/plain.css" ? plain_style() : api.answer(target);
}

}  // namespace eureka::serve
