// The kernel's own word that nothing else is read and nothing is written (Landlock, Linux 5.13 and later).
#pragma once

#include "base/files.h"

namespace eureka::serve {

// From now on this thread, and those it starts, can open files below `root` for reading and nothing else. False where
// the kernel cannot promise that.
bool confine_to(const fs::path& root);

bool is_confined();

}  // namespace eureka::serve
