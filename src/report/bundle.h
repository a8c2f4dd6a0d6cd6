// The interactive part of pages, made from web/ by `make web` and compiled in if it was there when CMake ran.
//
//   if (!report_bundle().script.empty()) ...       else figures stand still
#pragma once

#include <string_view>

namespace eureka {

struct PageBundle {
  std::string_view script;
  std::string_view style;
  std::string_view hash = {};  // of a script that stands within a page: what its policy allows ("sha256-...")
};

PageBundle live_bundle();    // of `eureka serve`
PageBundle report_bundle();  // of `eureka report`

}  // namespace eureka
