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
  EXPECT_EQ(pytorch.cannot(), "");
  StepTimes times;
  pytorch.steps(6, times);
  EXPECT_EQ(times.ms.size(), 6U);
  return pytorch.losses();
}

// Images, vectors with a cls token, a causal model of ids with rotary positions, hidden words.
std::vector<BenchCase> small_cases() {
  std::vector<BenchCase> cases;
  for (BenchCase& one : bench_cases(Catalog("[]")))
    for (const char* name : {"tiny", "two-step", "recall", "masked-language"})
      if (one.name == name) cases.push_back(std::move(one));
  EXPECT_EQ(cases.size(), 4U);
  for (BenchCase& one : cases) {
    if (one.name == "recall") one.config.model_options["positions"] = std::string("rotary");
    one.batch = 8;
  }
  return cases;
}

// Losses step by step, to the rounding of the way.
void expect_same_training(const BenchCase& one, const PyTorchSettings& stock, const PyTorchSettings& other,
                          double tolerance) {
  SCOPED_TRACE(one.name + ", " + other.way);
  const std::vector<double> expected = losses_of(one, stock), found = losses_of(one, other);
  ASSERT_EQ(expected.size(), found.size());
  EXPECT_NE(expected.front(), expected.back()) << "nothing was learned";
  for (std::size_t step = 0; step < expected.size(); ++step)
    EXPECT_NEAR(found[step], expected[step], tolerance * std::abs(expected[step])) << "step " << step;
}

TEST(PyTorch, TunedTrainsTheStockModel) {
  if (!has_pytorch()) GTEST_SKIP() << "there is no python3-torch";
  for (const BenchCase& one : small_cases()) expect_same_training(one, {.way = "stock"}, {.way = "tuned"}, 2e-5);
}

// EUREKA_BENCH_PYTHON: a Python with torch 2 and JAX.
TEST(PyTorch, CompiledBfloat16AndJaxTrainTheStockModel) {
  const char* named = std::getenv("EUREKA_BENCH_PYTHON");
  if (named == nullptr) GTEST_SKIP() << "EUREKA_BENCH_PYTHON names no Python with torch 2 and JAX";
  const std::string python = named;
  for (const BenchCase& one : small_cases()) {
    expect_same_training(one, {.way = "stock", .python = python}, {.way = "compile", .python = python}, 2e-5);
    expect_same_training(one, {.way = "stock", .python = python}, {.way = "bfloat16", .python = python}, 2e-2);
    expect_same_training(one, {.way = "stock", .python = python}, {.way = "jax", .python = python}, 2e-5);
    EXPECT_EQ(PyTorch(one, {.way = "tuned", .python = python}).way(), "compile");
  }
}

TEST(PyTorch, SaysWhatAPythonHasNot) {
  if (!has_pytorch()) GTEST_SKIP() << "there is no python3-torch";
  const BenchCase one = small_cases().front();
  const bool has_jax = std::system("/usr/bin/python3 -c 'import jax' 2> /dev/null") == 0;
  EXPECT_EQ(PyTorch(one, {.way = "jax"}).cannot(), has_jax ? "" : "/usr/bin/python3 has no JAX");
  const char* is_old = "/usr/bin/python3 -c 'import sys, torch; sys.exit(int(torch.__version__[0]) > 1)' 2> /dev/null";
  const std::string cannot = PyTorch(one, {.way = "compile"}).cannot();
  EXPECT_EQ(cannot.find("has no torch.compile") != std::string::npos, std::system(is_old) == 0) << cannot;
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
