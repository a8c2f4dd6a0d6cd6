// The memory of this machine, or of the part of it that the kernel lets this process have.
#pragma once

#include "base/files.h"

namespace eureka {

struct MachineMemory {
  double total = 0;      // bytes, here and below
  double available = 0;  // without taking it from other processes; what files are cached in counts
};

// The smaller of what the machine has and of the limits of this process's control groups (containers, batch systems).
// root: where proc/ and sys/ are found. Where nothing can be read, both numbers are infinite.
MachineMemory machine_memory(const fs::path& root = "/");

// "1.3 GB", "310 MB"
std::string memory_text(double bytes);

}  // namespace eureka
