// The ways of PyTorch that the bench measures are the same model: same weights, same losses step by step.
#include "measure/bench_processes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "train/catalog.h"

namespace eureka {
namespace {

bool has_pytorch() { return std::system("/usr/bin/python3 -c 'import torch' 2> /dev/null") == 0; }

std::vector<double> losses_of(const BenchCase& one, const PyTorchSettings& settings) {
  PyTorch pytorch(one, settings);
  StepTimes times;
  pytorch.steps(6, times);
  EXPECT_EQ(times.ms.size(), 6U);
  return pytorch.losses();
}

// Images, vectors with a cls token, a causal model of ids with rotary positions, hidden words.
TEST(PyTorch, TunedTrainsTheStockModel) {
  if (!has_pytorch()) GTEST_SKIP() << "there is no python3-torch";
  std::vector<BenchCase> cases;
  for (BenchCase& one : bench_cases(Catalog("[]")))
    for (const char* name : {"tiny", "two-step", "recall", "masked-language"})
      if (one.name == name) cases.push_back(std::move(one));
  ASSERT_EQ(cases.size(), 4U);
  for (BenchCase& one : cases)
    if (one.name == "recall") one.config.model_options["positions"] = std::string("rotary");
  for (BenchCase& one : cases) {
    SCOPED_TRACE(one.name);
    one.batch = 8;
    const std::vector<double> stock = losses_of(one, {.way = "stock"}), tuned = losses_of(one, {.way = "tuned"});
    ASSERT_EQ(stock.size(), tuned.size());
    EXPECT_NE(stock.front(), stock.back()) << "nothing was learned";
    for (std::size_t step = 0; step < stock.size(); ++step)
      EXPECT_NEAR(tuned[step], stock[step], 2e-5 * std::abs(stock[step])) << "step " << step;
  }
}

TEST(PyTorch, SaysWhatIsMissing) {
  const std::vector<BenchCase> cases = bench_cases(Catalog("[]"));
  try {
    PyTorch(cases.front(), {.python = "/no/such/python"});
    FAIL() << "there is no such Python";
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("/no/such/python"), std::string::npos) << error.hint();
  }
}

// One thread's work that waits as long as it computes was disturbed; one that only computes was not.
TEST(StepTimes, KnowWhenOthersHadTheProcessor) {
  EXPECT_FALSE((StepTimes{.ms = {2, 2, 2}, .cpu_ms = 5.9}.disturbed()));
  EXPECT_TRUE((StepTimes{.ms = {2, 2, 3}, .cpu_ms = 5.8}.disturbed()));
}

}  // namespace
}  // namespace eureka
