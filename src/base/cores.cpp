#include "base/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace eureka {
namespace {

// The CPUs that share a core, as the kernel lists them ("0,4"): the same text for all of them.
std::string siblings_of(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::string siblings;
  std::getline(file, siblings);
  return siblings.empty() ? fmt::format("{}", cpu) : siblings;
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cores.insert(siblings_of(cpu));
  return std::max<int>(1, static_cast<int>(cores.size()));
}

}  // namespace eureka
