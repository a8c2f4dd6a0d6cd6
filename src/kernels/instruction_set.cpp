#include "kernels/instruction_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/error.h"
#include "hwy/highway.h"

namespace eureka {
namespace {

struct InstructionSet {
  const char* name;
  std::int64_t target;
  bool fused;  // multiply-add
};

// The best first. Whatever else the program was compiled for is the baseline of its architecture.
constexpr std::array kSets = {
#if HWY_ARCH_X86
    InstructionSet{"AVX512", HWY_AVX3, true},
    InstructionSet{"AVX2", HWY_AVX2, true},
    InstructionSet{"SSE4", HWY_SSE4, false},
    InstructionSet{"BASELINE", HWY_STATIC_TARGET, HWY_STATIC_TARGET <= HWY_AVX2},
#elif HWY_ARCH_ARM_A64
    InstructionSet{"NEON", HWY_NEON, true},
#else
    InstructionSet{"BASELINE", HWY_STATIC_TARGET, false},
#endif
};

// Asked once: it must not depend on what was chosen since.
std::int64_t targets_of_processor() {
  static const std::int64_t targets = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  return targets;
}

bool available(const InstructionSet& set) { return (set.target & targets_of_processor()) != 0; }

const InstructionSet*& chosen() {
  static const InstructionSet* set = std::find_if(kSets.begin(), kSets.end(), available);
  return set;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const InstructionSet& set : kSets)
    if (available(set)) names.emplace_back(set.name);
  return names;
}

std::string instruction_set() { return chosen()->name; }

bool has_fused_multiply_add() { return chosen()->fused; }

void choose_instruction_set(std::string_view name) {
  const std::string wanted = upper_case(name);
  const auto found =
      std::find_if(kSets.begin(), kSets.end(), [&](const InstructionSet& s) { return wanted == s.name; });
  const std::string here = fmt::format("this machine has {}", fmt::join(instruction_sets(), ", "));
  if (found == kSets.end())
    throw Error(ErrorKind::usage, fmt::format("there is no instruction set '{}' for this kind of processor", name),
                "EUREKA_INSTRUCTIONS", here);
  if (!available(*found))
    throw Error(ErrorKind::usage, fmt::format("this processor has no {}", found->name), "EUREKA_INSTRUCTIONS", here);
  hwy::DisableTargets(~found->target);
  chosen() = found;
}

void choose_instruction_set_from_environment() {
  if (const char* name = std::getenv("EUREKA_INSTRUCTIONS"); name != nullptr && *name != '\0')
    choose_instruction_set(name);
}

}  // namespace eureka
