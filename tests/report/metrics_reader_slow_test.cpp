// Ten million rows, in the memory of a thousand.
#include "report/metrics_reader.h"

#include <gtest/gtest.h>

#include "support/long_metrics_file.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

TEST(MetricsReader, ReadsTenMillionRowsInBoundedMemory) {
  TemporaryDirectory directory;
  const fs::path file = directory.path() / "metrics.jsonl";
  write_long_metrics(file);
  const long before = peak_megabytes();
  MetricsReader reader(600, {{5'000'000, 5'000'200}}, false);
  reader.read(file);
  EXPECT_EQ(reader.rows(), static_cast<std::size_t>(kLongRows));
  const std::vector<RunCurve> curves = reader.take_curves();
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_LT(curves[0].points.size(), 3000U);
  EXPECT_LT(peak_megabytes() - before, 64);
}

}  // namespace
}  // namespace eureka
