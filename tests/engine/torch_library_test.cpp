#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "engine/engine.h"

namespace eureka {
namespace {

std::string refusal_of(const char* library) {
  ::setenv("EUREKA_TORCH_LIBRARY", library, 1);
  try {
    load_torch_facts();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TorchLibrary, OneOfAnotherBuildIsRefused) {
  EXPECT_NE(refusal_of(EUREKA_OTHER_TORCH).find("the torch library has interface -1 of the engines, this program has"),
            std::string::npos)
      << refusal_of(EUREKA_OTHER_TORCH);
  // Not ours at all.
  EXPECT_NE(refusal_of("libm.so.6").find("the torch library has interface none"), std::string::npos);
}

}  // namespace
}  // namespace eureka
