#include "engine/libtorch_environment.h"

#include <cstdlib>
#include <utility>

namespace eureka {
namespace {

void set_if_unset(const char* name, const char* value) { ::setenv(name, value, /*overwrite=*/0); }

}  // namespace

void pin_libtorch([[maybe_unused]] std::optional<Precision> precision) {
  set_if_unset("CUBLAS_WORKSPACE_CONFIG", ":4096:8");
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  constexpr std::pair<const char*, const char*> kAvx2[] = {
      {"ATEN_CPU_CAPABILITY", "avx2"}, {"OPENBLAS_CORETYPE", "Haswell"}, {"MKL_CBWR", "AVX2"}};
  for (const auto& [name, value] : kAvx2) set_if_unset(name, value);
  if (precision != Precision::float32) return;
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) set_if_unset(name, "AVX2");
#endif
}

}  // namespace eureka
