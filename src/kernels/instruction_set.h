// Which vector instructions the kernels use. By default the best this processor has; EUREKA_INSTRUCTIONS=AVX2, or a
// call, chooses another. All sets with fused multiply-add give the same bits.
//
//   choose_instruction_set("AVX2");
//   for (const std::string& name : instruction_sets()) ...     AVX512, AVX2, SSE4, BASELINE, or NEON
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eureka {

// Those that this program was built for and this processor has, the best first.
std::vector<std::string> instruction_sets();

// The one in use.
std::string instruction_set();

// Whether the set in use multiplies and adds with one rounding; without it the last bits of a run are others.
bool has_fused_multiply_add();

// Case does not matter. Throws Error(usage) for a name that does not exist, and for a set this processor has not. Not
// to be called while kernels run.
void choose_instruction_set(std::string_view name);

// The same with the value of EUREKA_INSTRUCTIONS, if it is set.
void choose_instruction_set_from_environment();

}  // namespace eureka
