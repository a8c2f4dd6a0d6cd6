// What libtorch and the libraries under it read from the environment when they are loaded.
#pragma once

namespace eureka {

// Asks them for the same instructions on every x86-64 processor with AVX2, so that newer ones give the same bits, and
// cuBLAS for one workspace, so that it repeats itself. To be called before libtorch is loaded; variables that are set
// already stay as they are.
void pin_libtorch();

}  // namespace eureka
