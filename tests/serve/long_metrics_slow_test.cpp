// Ten million rows, seen by the index, a chart and a part of one, in bounded memory.
#include "serve/long_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "support/served_directory.h"

namespace eureka {
namespace {

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class LongRun : public ServedDirectory {};

TEST_F(LongRun, TenMillionRowsAreServedInBoundedMemory) {
  constexpr int kRows = 10'000'000;
  write_run(at("run"), {});
  {
    std::ofstream stream(at("run/metrics.jsonl"), std::ios::binary);
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
  start();
  EXPECT_EQ(json("/api/index").at("entries").at(0).at("step").get<int>(), kRows - 1);
  const Json whole = json("/api/series?id=run&column=val_accuracy&points=1000");
  EXPECT_EQ(whole.at("x").back().get<int>(), kRows - 1);
  EXPECT_LT(whole.at("x").size(), 4000U);
  const Json part = json("/api/series?id=run&column=val_accuracy&from=5000000&to=5000100");
  EXPECT_EQ(part.at("x").size(), 101U);
  EXPECT_EQ(part.at("columns").at("val_accuracy").at(7).get<double>(), 0.57);
  EXPECT_EQ(json("/api/run?id=run").at("columns").size(), 2U);
  EXPECT_LT(peak_megabytes() - before, 128);
}

}  // namespace
}  // namespace eureka
