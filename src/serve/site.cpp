#include "serve/site.h"

#include "base/embedded.h"
#include "serve/plain_page.h"

namespace eureka::serve {
namespace {

std::optional<Answer> part_of_page(std::string_view name, const char* type) {
#ifdef EUREKA_HAS_PAGE
  for (const EmbeddedFile& file : web_page::files())
    if (file.name == name) return text_answer(type, std::string(file.text));
#endif
  (void)name, (void)type;
  return std::nullopt;
}

}  // namespace

Answer site_answer(Api& api, const RequestTarget& target) {
  std::optional<Answer> found;
  if (target.path == "/") {
    found = part_of_page("index.html", kHtml);
    if (!found) return api.answer({"/plain", {}});
    found->policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return *found;
  }
  if (target.path == "/assets/app.js") found = part_of_page("app.js", "text/javascript; charset=utf-8");
  if (target.path == "/assets/app.css") found = part_of_page("app.css", "text/css; charset=utf-8");
  if (target.path == "/assets/plain.css") found = plain_style();
  return found ? *found : api.answer(target);
}

}  // namespace eureka::serve
