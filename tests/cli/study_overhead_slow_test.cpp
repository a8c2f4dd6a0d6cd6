// What a trial costs beyond starting a process, over 500 trials that do next to nothing.
#include <gtest/gtest.h>

#include <fstream>

#include "support/command.h"

namespace eureka {
namespace {

double seconds_of(const std::vector<std::string>& words) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(eureka_command(words).exit_code, 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(StudyOverhead, IsBelow50MillisecondsForEachOf500Trials) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "trivial.toml";
  std::ofstream(file) << "[study]\nbase = \"two-step\"\nseeds = 250\n"
                         "set.train = { steps = 1, batch = 1, validation_samples = 1 }\n"
                         "set.model = { width = 8, depth = 1, heads = 1 }\n"
                         "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\nset.attention.rule = \"qk_norm\"\n";
  // Before and after, so that a machine that grows busy does not pass for our overhead.
  double start = 0;
  for (int i = 0; i < 50; ++i) start += seconds_of({"--version"}) / 100;
  const double whole =
      seconds_of({"study", file.string(), "--out", (directory.path() / "out").string(), "--jobs", "1"});
  for (int i = 0; i < 50; ++i) start += seconds_of({"--version"}) / 100;
  const double overhead = whole / 500 - start;
  RecordProperty("process_start_ms", std::to_string(start * 1e3));
  RecordProperty("overhead_ms", std::to_string(overhead * 1e3));
  std::printf("process start %.1f ms, beyond it %.1f ms for each trial\n", start * 1e3, overhead * 1e3);
  EXPECT_LT(overhead, 0.050);
}

}  // namespace
}  // namespace eureka
