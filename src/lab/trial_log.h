// What a trial said while it ran: trial.log in its directory.
#pragma once

#include <string>

#include "base/files.h"

namespace eureka {

// Nothing when there is none.
std::string said_in(const fs::path& log);

// "; its last words: ..." with the last lines in one; nothing of an empty log.
std::string last_words(const fs::path& log);

}  // namespace eureka
