# Names the commit that is built: run as a script, with SOURCE and OUT. The file changes only when the commit does.
find_package(Git QUIET)
set(commit "unknown")
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude *
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "unknown")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[#include "base/process_facts.h"

namespace eureka {

std::string_view build_commit() { return "@commit@"; }

}  // namespace eureka
]])
