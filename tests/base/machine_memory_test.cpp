#include "base/machine_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "support/temporary_directory.h"

namespace eureka {
namespace {

constexpr double kMiB = 1024.0 * 1024;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void put_machine(const fs::path& root) {
  put(root / "proc/meminfo", "MemTotal:       8388608 kB\nMemFree:  1024 kB\nMemAvailable:   4194304 kB\n");
}

TEST(MachineMemory, OfThisMachineIsPlausible) {
  const MachineMemory memory = machine_memory();
  EXPECT_GT(memory.available, 1e6);
  EXPECT_LE(memory.available, memory.total);
  EXPECT_LT(memory.total, 1e15);
}

TEST(MachineMemory, WithoutGroupsIsWhatTheKernelSays) {
  const TemporaryDirectory root;
  put_machine(root.path());
  const MachineMemory memory = machine_memory(root.path());
  EXPECT_EQ(memory.total, 8192 * kMiB);
  EXPECT_EQ(memory.available, 4096 * kMiB);
}

TEST(MachineMemory, IsThatOfTheTightestGroupAroundTheProcess) {
  const TemporaryDirectory root;
  put_machine(root.path());
  put(root.path() / "proc/self/cgroup", "0::/outer/inner\n");
  const fs::path groups = root.path() / "sys/fs/cgroup";
  put(groups / "outer/inner/memory.max", "max\n");
  put(groups / "outer/memory.max", "1073741824\n");
  put(groups / "outer/memory.current", "536870912\n");
  put(groups / "outer/memory.stat", "anon 1\ninactive_file 268435456\n");
  const MachineMemory memory = machine_memory(root.path());
  EXPECT_EQ(memory.total, 1024 * kMiB);
  EXPECT_EQ(memory.available, 768 * kMiB) << "cached files give way";
}

TEST(MachineMemory, KnowsTheFirstVersionOfGroups) {
  const TemporaryDirectory root;
  put_machine(root.path());
  put(root.path() / "proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/job\n");
  const fs::path group = root.path() / "sys/fs/cgroup/memory/job";
  put(group / "memory.limit_in_bytes", "2147483648\n");
  put(group / "memory.usage_in_bytes", "1073741824\n");
  const MachineMemory memory = machine_memory(root.path());
  EXPECT_EQ(memory.total, 2048 * kMiB);
  EXPECT_EQ(memory.available, 1024 * kMiB);
}

TEST(MachineMemory, WithoutAnyFactsNothingIsTooLarge) {
  const TemporaryDirectory root;
  EXPECT_TRUE(std::isinf(machine_memory(root.path()).total));
  EXPECT_TRUE(std::isinf(machine_memory(root.path()).available));
}

TEST(MachineMemory, IsToldInWords) {
  EXPECT_EQ(memory_text(309.7e6), "310 MB");
  EXPECT_EQ(memory_text(1.26e9), "1.3 GB");
  EXPECT_EQ(memory_text(20), "1 MB");
}

}  // namespace
}  // namespace eureka
