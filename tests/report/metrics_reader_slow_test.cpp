// Ten million rows, in the memory of a thousand.
#include "report/metrics_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "support/temporary_directory.h"

namespace eureka {
namespace {

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(MetricsReader, ReadsTenMillionRowsInBoundedMemory) {
  TemporaryDirectory directory;
  const fs::path file = directory.path() / "metrics.jsonl";
  constexpr int kRows = 10'000'000;
  {
    std::ofstream stream(file, std::ios::binary);
    fmt::memory_buffer lines;
    for (int i = 0; i < kRows; ++i) {
      fmt::format_to(std::back_inserter(lines), "{{\"step\":{},\"val_accuracy\":0.{},\"val_loss\":1.25}}\n", i,
                     50 + i % 40);
      if (lines.size() < (1 << 20) && i + 1 < kRows) continue;
      stream.write(lines.data(), static_cast<std::streamsize>(lines.size()));
      lines.clear();
    }
  }
  const long before = peak_megabytes();
  MetricsReader reader(600, {{5'000'000, 5'000'200}}, false);
  reader.read(file);
  EXPECT_EQ(reader.rows(), static_cast<std::size_t>(kRows));
  const std::vector<RunCurve> curves = reader.take_curves();
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_LT(curves[0].points.size(), 3000U);
  EXPECT_LT(peak_megabytes() - before, 64);
}

}  // namespace
}  // namespace eureka
