#include "report/bundle.h"

#include <span>

#include "base/embedded.h"

namespace eureka {
namespace {

std::string_view text_of(std::string_view name) {
#ifdef EUREKA_PAGE_BUNDLE
  for (const EmbeddedFile& file : page_bundle::files())
    if (file.name == name) return file.text;
#endif
  return name.substr(0, 0);
}

}  // namespace

PageBundle live_bundle() { return {text_of("app.js"), text_of("app.css")}; }
PageBundle report_bundle() { return {text_of("report.js"), text_of("report.css"), text_of("report.hash")}; }

}  // namespace eureka
