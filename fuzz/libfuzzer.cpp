// The entry point of libFuzzer for the target that EUREKA_FUZZ_TARGET names, one of EUREKA_FUZZ_LIST.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eureka::fuzz;
  static const FuzzTarget target = [] {
    const std::vector<FuzzTarget> all = EUREKA_FUZZ_LIST();
    const auto found =
        std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == EUREKA_FUZZ_TARGET; });
    EUREKA_CHECK(found != all.end(), "the build names a target that is there");
    return *found;
  }();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
