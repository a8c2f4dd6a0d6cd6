#include "engine/libtorch_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace eureka {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TEST(LibtorchEnvironment, PinsWhatTheUserHasNotChosen) {
  ::unsetenv("OPENBLAS_CORETYPE");
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  ::setenv("ATEN_CPU_CAPABILITY", "default", 1);
  pin_libtorch(Precision::bfloat16);
  EXPECT_EQ(variable("ATEN_CPU_CAPABILITY"), "default");
  EXPECT_NE(variable("CUBLAS_WORKSPACE_CONFIG"), "");
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  EXPECT_EQ(variable("OPENBLAS_CORETYPE"), avx2 ? "Haswell" : "");
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "");
  pin_libtorch(Precision::float32);
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), avx2 ? "AVX2" : "");
#endif
}

}  // namespace
}  // namespace eureka
