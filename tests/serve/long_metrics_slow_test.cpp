// Ten million rows, seen by the index, a chart and a part of one, in bounded memory.
#include "serve/long_metrics.h"

#include "support/long_metrics_file.h"
#include "support/served_directory.h"

namespace eureka {
namespace {

class LongRun : public ServedDirectory {};

TEST_F(LongRun, TenMillionRowsAreServedInBoundedMemory) {
  write_run(at("run"), {});
  write_long_metrics(at("run/metrics.jsonl"));
  const long before = peak_megabytes();
  start();
  EXPECT_EQ(json("/api/index").at("entries").at(0).at("step").get<int>(), kLongRows - 1);
  const Json whole = json("/api/series?id=run&column=val_accuracy&points=1000");
  EXPECT_EQ(whole.at("x").back().get<int>(), kLongRows - 1);
  EXPECT_LT(whole.at("x").size(), 4000U);
  const Json part = json("/api/series?id=run&column=val_accuracy&from=5000000&to=5000100");
  EXPECT_EQ(part.at("x").size(), 101U);
  EXPECT_EQ(part.at("columns").at("val_accuracy").at(7).get<double>(), 0.57);
  EXPECT_EQ(json("/api/run?id=run").at("columns").size(), 2U);
  EXPECT_LT(peak_megabytes() - before, 128);
}

}  // namespace
}  // namespace eureka
