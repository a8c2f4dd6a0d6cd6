// What libtorch and the libraries under it read from the environment when they are loaded.
#pragma once

#include <optional>

#include "engine/engine.h"

namespace eureka {

// Asks them for the same instructions on every x86-64 processor with AVX2, so that newer ones give the same bits, and
// cuBLAS for one workspace, so that it repeats itself. To be called before libtorch is loaded; variables that are set
// already stay as they are. In bfloat16, and as long as the precision is not known, oneDNN keeps what it has: libtorch
// gives it work that it has no AVX2 code for.
void pin_libtorch(std::optional<Precision> precision);

}  // namespace eureka
